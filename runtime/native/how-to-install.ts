/** What to do where `here` has no kernel library, of the platforms that are `known`; `file` is what it is called. */
export function howToInstall(here: string, known: readonly string[], file: string): string {
  return known.includes(here)
    ? `install its package with 'npm install @ptlite/${here}', which is left out where optional dependencies are, and belongs to the platform that 'npm install' ran on; beside a bundle, copy ${file} out of it; or set PTLITE_NATIVE_LIBRARY to the path of one`
    : `there are kernels for ${known.join(', ')}, none for ${here}`
}
