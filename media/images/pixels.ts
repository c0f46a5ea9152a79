import { check, PtliteError } from '../../runtime/error.js'
import { kindOf, numberText } from '../../runtime/tensor/kind-of.js'
import { arrayName, lengthOf } from '../../runtime/intrinsics.js'
import { steady } from '../../runtime/tensor/storage.js'

/**
 * Interleaved bytes, row by row from the top: an `ImageData` of a canvas, or what a decoder gives. `channels` is 1 (grey), 2 (grey, alpha), 3 (RGB)
 * or 4 (RGBA); without it the length of `data` tells.
 */
export interface Pixels {
  /** width x height x channels bytes. */
  readonly data: Uint8Array | Uint8ClampedArray
  /** In pixels. */
  readonly width: number
  /** In pixels. */
  readonly height: number
  /** Bytes of a pixel. */
  readonly channels?: number
}

/** Pixels with their sizes apart, as sharp's `toBuffer({ resolveWithObject: true })` gives them. */
export interface PixelsWithInfo {
  /** As of Pixels. */
  readonly data: Uint8Array | Uint8ClampedArray
  /** As of Pixels. */
  readonly info: { readonly width: number; readonly height: number; readonly channels?: number }
}

/** Images as decoders and canvases give them. */
export type ImageSource = Pixels | PixelsWithInfo

/** Sizes in pixels, and bytes that native code may read. */
export interface Picture {
  readonly bytes: ArrayBufferView
  readonly width: number
  readonly height: number
  readonly channels: number
}

/** Reads an image once. Throws INVALID_ARGUMENT where it is none, or where its bytes are not what its sizes say. */
export function pictureOf(image: ImageSource): Picture {
  check(typeof image === 'object' && image !== null, () => `expected an image, { data, width, height }, found ${kindOf(image)}`)
  const { data, info } = image as PixelsWithInfo
  const { width, height, channels } = info ?? (image as Pixels)
  const kind = arrayName(data)
  if (kind !== 'Uint8Array' && kind !== 'Uint8ClampedArray')
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `expected the data of an image to be a Uint8Array or a Uint8ClampedArray, found ${kindOf(data)}`,
    )
  for (const [name, value] of Object.entries({ width, height }))
    check(
      Number.isSafeInteger(value) && value > 0,
      () => `expected the ${name} of an image to be a whole number above 0, found ${numberText(value)}`,
    )
  const length = lengthOf(data)
  const samples = channels === undefined ? length / (width * height) : channels
  check(
    [1, 2, 3, 4].includes(samples) && width * height * samples === length,
    () =>
      `an image of ${width} x ${height} pixels of ${channels === undefined ? '1 to 4' : numberText(channels)} bytes does not have ${length} bytes`,
  )
  return { bytes: steady(data), width, height, channels: samples }
}
