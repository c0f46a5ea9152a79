import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { HAS_PACKAGES, HOW_TO_GET_LIBRARY, LIBRARY_FOLDERS } from '../build.js'
import { PtliteError } from '../error.js'
import { LIBRARY_FILE, packagedLibrary, platform } from './platform-package.js'
import { unpacked } from './unpacked.js'

/** Environment variable with the path of the kernel library. */
export const LIBRARY_VARIABLE = 'PTLITE_NATIVE_LIBRARY'

let explicitPath: string | undefined

/** The library at `path` is to be used. */
export function chooseLibrary(path: string): void {
  explicitPath = path
}

/** The path that was asked for, by the program or by the environment; '' where neither says. */
export function chosenLibrary(): string {
  return explicitPath ?? process.env[LIBRARY_VARIABLE] ?? ''
}

/** Path of the kernel library: the chosen one, the one beside this module, or that of the platform's package. Throws NATIVE_LIBRARY where there is none. */
export function findLibrary(): string {
  const chosen = chosenLibrary()
  const beside = (folder: string): string => fileURLToPath(new URL(`${folder}/${LIBRARY_FILE}`, import.meta.url))
  const tried = chosen !== '' ? [chosen] : foldersHere().map(beside)
  const found = tried.find(isThere)
  if (found !== undefined) return found
  if (HAS_PACKAGES && chosen === '') return packagedLibrary(tried)
  throw new PtliteError(
    'NATIVE_LIBRARY',
    `no kernel library at ${tried.join(' or ')}; ${HOW_TO_GET_LIBRARY} or set ${LIBRARY_VARIABLE} to its path`,
  )
}

function foldersHere(): readonly string[] {
  const here = platform()
  return HAS_PACKAGES && here !== 'linux-x64' ? LIBRARY_FOLDERS.flatMap((folder) => [`${folder}/${here}`, folder]) : LIBRARY_FOLDERS
}

/** Throws NATIVE_LIBRARY where Node may not look. */
function isThere(path: string): boolean {
  try {
    return existsSync(unpacked(path))
  } catch (cause) {
    throw new PtliteError('NATIVE_LIBRARY', `cannot look for ${path}: ${(cause as Error).message}`, { cause })
  }
}
