import { check, PtliteError } from '../../runtime/error.js'
import { kindOf, numberText } from '../../runtime/tensor/kind-of.js'
import { arrayName, isArrayBuffer, lengthOf } from '../../runtime/intrinsics.js'
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

/** How files of pictures begin. */
const FILES: readonly (readonly [kind: string, start: readonly (number | null)[]])[] = [
  ['the bytes of a JPEG file', [0xff, 0xd8, 0xff]],
  ['the bytes of a PNG file', [0x89, 0x50, 0x4e, 0x47]],
  ['the bytes of a GIF file', [0x47, 0x49, 0x46, 0x38]],
  ['the bytes of a WebP file', [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
  ['the bytes of an AVIF or HEIF file', [null, null, null, null, 0x66, 0x74, 0x79, 0x70]],
]

/** What a caller gave in place of pixels: a file, a path, something that has yet to be read; null for what may be pixels. */
function fileKind(image: unknown): string | null {
  if (typeof image === 'string') return 'a string'
  const isBuffer = isArrayBuffer(image)
  if (!isBuffer && arrayName(image) === undefined) return null
  if (!isBuffer && arrayName(image) !== 'Uint8Array' && arrayName(image) !== 'Uint8ClampedArray') return null
  const bytes = isBuffer ? new Uint8Array(image) : (image as Uint8Array)
  const found = FILES.find(([, start]) => start.every((byte, i) => byte === null || bytes[i] === byte))
  return found?.[0] ?? 'bytes without sizes'
}

/** Reads an image once. Throws INVALID_ARGUMENT where it is none, or where its bytes are not what its sizes say. */
export function pictureOf(image: ImageSource): Picture {
  const file = fileKind(image)
  check(
    file === null,
    () =>
      `expected the pixels of an image, { data, width, height }, found ${file!}, which has to be decoded first: by sharp(bytes).raw().toBuffer({ resolveWithObject: true }), or jpeg-js or pngjs in Node; in browsers by createImageBitmap(), drawn on a canvas, and getImageData()`,
  )
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
