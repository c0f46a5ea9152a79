/** In Electron a build is left outside of the archive, or told of its library by setNativeLibrary. */
export function unpacked(path: string): string {
  return path
}
