import { PtliteError } from '../error.js'
import { PACKAGES } from './generated/packages.js'
import { LIBRARY_FILES } from './generated/targets.js'

/** Name of the kernel library's file on this system. */
export const LIBRARY_FILE = LIBRARY_FILES[process.platform] ?? 'libptlite.so'

/**
 * Where the kernel library of this platform's package is. Throws NATIVE_LIBRARY where it is not installed, with what to do and `tried`, where else it is
 * not, and where it is damaged.
 */
export function packagedLibrary(tried: readonly string[]): string {
  const path = pathOf(PACKAGES[platform()])
  if (path !== undefined) return path
  throw new PtliteError(
    'NATIVE_LIBRARY',
    `no kernel library at ${tried.join(' or ')}; ${howToInstall(platform(), Object.keys(PACKAGES), LIBRARY_FILE)}`,
  )
}

function pathOf(load: (() => unknown) | undefined): string | undefined {
  try {
    return load === undefined ? undefined : String(load())
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw new PtliteError('NATIVE_LIBRARY', `cannot load the package of the kernel library: ${(cause as Error).message}`, { cause })
  }
}

/** Of this process, as packages are called by it: `linux-x64`. */
export function platform(): string {
  return `${process.platform}-${process.arch}`
}

/** What to do where `here` has no kernel library, of the platforms that are `known`; `file` is what it is called. */
function howToInstall(here: string, known: readonly string[], file: string): string {
  return known.includes(here)
    ? `install its package with 'npm install @ptlite/${here}', which is left out where optional dependencies are, and belongs to the platform that 'npm install' ran on; beside a bundle, copy ${file} out of it; or set PTLITE_NATIVE_LIBRARY to the path of one`
    : `there are kernels for ${known.join(', ')}, none for ${here}`
}
