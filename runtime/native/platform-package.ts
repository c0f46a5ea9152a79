import { PtliteError } from '../error.js'
import { PACKAGES } from './generated/packages.js'
import { LIBRARY_FILES } from './generated/targets.js'
import { howToInstall } from './how-to-install.js'

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

function platform(): string {
  return `${process.platform}-${process.arch}`
}
