import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'

/** dist/decoders.cjs, which commands load where a picture is given: what pictures in files are read by. */

export interface Decoded {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
}

/** Errors are of the decoder. `megapixels` bounds the picture. */
export function decodeJpeg(bytes: Uint8Array, megapixels: number): Decoded {
  return jpeg.decode(bytes, {
    useTArray: true,
    formatAsRGBA: false,
    tolerantDecoding: false,
    maxResolutionInMP: megapixels,
    maxMemoryUsageInMB: 1024,
  })
}

/** As above, of RGBA. */
export function decodePng(bytes: Uint8Array): Decoded {
  return PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}
