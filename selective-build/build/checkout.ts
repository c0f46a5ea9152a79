import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PtliteError } from '../../runtime/error.js'

/** What a selective build reads of the project, of which `@ptlite/selective-build` has a copy. */
const NEEDED = ['codegen/native_functions', 'kernels/CMakeLists.txt', 'formats/read.ts', 'src/selected.ts']

/**
 * The folder of the project that a selective build is made from: the one above this file, or `given`. Throws INVALID_ARGUMENT that
 * says what is missing.
 */
export function findCheckout(given?: string): string {
  if (given !== undefined) {
    const missing = missingIn(given)
    if (missing.length === 0) return given
    throw new PtliteError('INVALID_ARGUMENT', `${given} lacks ${missing.join(', ')}; ${ADVICE}`)
  }
  let folder = dirname(fileURLToPath(import.meta.url))
  for (;;) {
    if (missingIn(folder).length === 0) return folder
    if (dirname(folder) === folder) break
    folder = dirname(folder)
  }
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `a selective build compiles the sources of ptlite, which the installed package does not have; ${ADVICE}`,
  )
}

const ADVICE = "clone the repository, run ./setup.sh there, and give that folder with --sources or run its 'npx selective-build'"

function missingIn(folder: string): string[] {
  return NEEDED.filter((path) => !existsSync(join(folder, path)))
}
