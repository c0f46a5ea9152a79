import { existsSync } from 'node:fs'

/**
 * Where the system has a file. Electron shows programs the files of an archive as if it were a folder, those among them that lie beside it in
 * `app.asar.unpacked`; native code and threads have to be told of these.
 */
export function unpacked(path: string): string {
  const beside = path.replace(/\.asar(?=[\\/])/, '$&.unpacked')
  return beside !== path && existsSync(beside) ? beside : path
}
