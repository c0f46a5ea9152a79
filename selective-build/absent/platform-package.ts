/** A build's kernel library stands beside it (runtime/build.ts): nobody asks. */
export function packagedLibrary(): string {
  return ''
}
