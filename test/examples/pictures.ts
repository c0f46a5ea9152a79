import { readFileSync } from 'node:fs'
import { PNG } from 'pngjs'

export interface Decoded {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
}

/** A PNG file's RGBA pixels. */
export function decoded(path: string): Decoded {
  return PNG.sync.read(readFileSync(path))
}

/** Red, green and blue at a place. */
export function pixelAt({ data, width }: Decoded, x: number, y: number): readonly number[] {
  const at = 4 * (y * width + x)
  return [...data.subarray(at, at + 3)]
}
