/** Name of the kernel library's file: a build is for Linux. */
export const LIBRARY_FILE = 'libptlite.so'

/** A build's kernel library stands beside it (runtime/build.ts): nobody asks. */
export function packagedLibrary(): string {
  return ''
}
