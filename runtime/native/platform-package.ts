import { createRequire } from 'node:module'
import { PtliteError } from '../error.js'

/**
 * Packages by platform, each of which gives the path of its kernel library; of two C libraries, the more common one first. A name stands in a call
 * of its own, since tools that bundle programs or copy what they need look for these.
 */
const PACKAGES: Readonly<Record<string, readonly (() => unknown)[] | undefined>> = {
  'linux-x64': [() => createRequire(import.meta.url)('@ptlite/linux-x64'), () => createRequire(import.meta.url)('@ptlite/linux-x64-musl')],
  'linux-arm64': [
    () => createRequire(import.meta.url)('@ptlite/linux-arm64'),
    () => createRequire(import.meta.url)('@ptlite/linux-arm64-musl'),
  ],
}

/** Where the kernel library of this platform's package is; undefined where it is not installed. */
export function packagedLibrary(): string | undefined {
  const found = (PACKAGES[platform()] ?? []).flatMap((load) => pathOf(load))
  // installers that do not know about C libraries bring the packages of both
  return found.length > 1 && usesMusl() ? found[1] : found[0]
}

/** What to do where it is not. */
export function howToInstall(): string {
  const here = platform()
  if (PACKAGES[here] === undefined) return `there are kernels for ${Object.keys(PACKAGES).join(' and ')}, none for ${here}`
  const name = `@ptlite/${here}${process.platform === 'linux' && usesMusl() ? '-musl' : ''}`
  return `install its package with 'npm install ${name}' (it is left out where optional dependencies are, and belongs to the machine that 'npm install' ran on)`
}

function platform(): string {
  return `${process.platform}-${process.arch}`
}

/** Throws NATIVE_LIBRARY where a package is there and damaged. */
function pathOf(load: () => unknown): string[] {
  try {
    return [String(load())]
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return []
    throw new PtliteError('NATIVE_LIBRARY', `cannot load the package of the kernel library: ${(cause as Error).message}`, { cause })
  }
}

/** Whether Node runs with the C library of Alpine Linux. */
function usesMusl(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime === undefined
}
