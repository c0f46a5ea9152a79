import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PtliteError } from '../error.js'
import { KERNEL_ABI_HASH } from './generated/kernels.js'

type Launch = (frame: Uint8Array, host: ArrayBufferView | null) => number

const FILE_NAME = 'libptlite.so'
const VARIABLE = 'PTLITE_NATIVE_LIBRARY'

let explicitPath: string | undefined
let launchFunction: Launch | undefined

/** Uses the kernel library at `path` instead of the one beside this module. Must come before the first operator call. */
export function setNativeLibrary(path: string): void {
  if (launchFunction !== undefined) throw new PtliteError('NATIVE_LIBRARY', 'the native library is loaded already; call setNativeLibrary first')
  explicitPath = path
}

/** Calls ptlite_launch; loads the library at the first call, so that importing the package costs nothing. */
export function nativeLaunch(frame: Uint8Array, host: ArrayBufferView | null): number {
  return (launchFunction ??= load())(frame, host)
}

function load(): Launch {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new PtliteError('NATIVE_LIBRARY', `the kernels need Linux on x86-64, found ${process.platform} on ${process.arch}`)
  }
  const path = findLibrary()
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  let library
  try {
    library = koffi.load(path)
  } catch (cause) {
    throw new PtliteError('NATIVE_LIBRARY', `cannot load ${path}: ${(cause as Error).message}`, { cause })
  }
  const abiHash = library.func('uint32_t ptlite_abi_hash()') as () => number
  if (abiHash() !== KERNEL_ABI_HASH) {
    throw new PtliteError('NATIVE_LIBRARY', `${path} was built for another version of ptlite; rebuild it with 'npm run build'`)
  }
  return library.func('int ptlite_launch(void *frame, void *host)') as Launch
}

function findLibrary(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const chosen = explicitPath ?? process.env[VARIABLE]
  const tried = chosen !== undefined && chosen !== '' ? [chosen] : [join(here, FILE_NAME), join(here, '../../dist', FILE_NAME)]
  const found = tried.find((path) => existsSync(path))
  if (found === undefined) {
    throw new PtliteError('NATIVE_LIBRARY', `no kernel library at ${tried.join(' or ')}; build it with 'npm run build' or set ${VARIABLE} to its path`)
  }
  return found
}
