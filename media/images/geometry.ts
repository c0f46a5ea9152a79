import { check, PtliteError } from '../../runtime/error.js'
import { numberText } from '../../runtime/tensor/kind-of.js'

/** One number for both, or [height, width]. */
export type ImageSize = number | readonly [height: number, width: number]

/** Where a result lies in the resized picture. */
export interface Geometry {
  readonly resizedWidth: number
  readonly resizedHeight: number
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Where a whole picture lies in a larger one. */
export interface Fitted {
  readonly outWidth: number
  readonly outHeight: number
  readonly left: number
  readonly top: number
  /** Of the resized picture. */
  readonly width: number
  readonly height: number
}

/** What JPEG can hold, and more than any network takes. */
const LONGEST = 65535

function side(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= LONGEST) return value
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `expected ${name} to be a whole number from 1 to ${LONGEST}, or [height, width], found ${numberText(value)}`,
  )
}

function both(size: ImageSize, name: string): readonly [height: number, width: number] {
  if (!Array.isArray(size)) return [side(size, name), side(size, name)]
  const { length, 0: height, 1: width } = size as readonly unknown[]
  check(length === 2, () => `expected ${name} to be one number or [height, width], found ${length} of them`)
  return [side(height, name), side(width, name)]
}

/** The sizes of a picture of which one number is to be the shorter side, as torchvision's Resize has them: the longer one is cut to a whole number. */
function withShorterSide(shorter: number, width: number, height: number): readonly [height: number, width: number] {
  const longer = Math.trunc((shorter * Math.max(width, height)) / Math.min(width, height))
  check(
    longer <= LONGEST,
    () => `a picture of ${width} x ${height} whose shorter side is ${shorter} would be ${longer} long, more than ${LONGEST}`,
  )
  return width <= height ? [longer, shorter] : [shorter, longer]
}

/** Half of a margin, rounded half to even as Python's round does. */
function halfOf(margin: number): number {
  const half = Math.floor(margin / 2)
  return margin % 2 !== 0 && half % 2 !== 0 ? half + 1 : half
}

/** Throws INVALID_ARGUMENT for sizes that are not positive integers, and for a crop beyond the picture. */
export function geometryOf(
  picture: { readonly width: number; readonly height: number },
  resize: ImageSize | undefined,
  crop: ImageSize | undefined,
): Geometry {
  const { width, height } = picture
  const [resizedHeight, resizedWidth] =
    resize === undefined
      ? [height, width]
      : Array.isArray(resize)
        ? both(resize, 'resize')
        : withShorterSide(side(resize, 'resize'), width, height)
  const [high, wide] = crop === undefined ? [resizedHeight, resizedWidth] : both(crop, 'crop')
  check(
    high <= resizedHeight && wide <= resizedWidth,
    () => `a picture of ${resizedWidth} x ${resizedHeight} has no part of ${wide} x ${high}; give \`resize\`, too`,
  )
  return { resizedWidth, resizedHeight, left: halfOf(resizedWidth - wide), top: halfOf(resizedHeight - high), width: wide, height: high }
}

/** A picture in the middle of `fit`, as large as it can be with its proportions. Throws INVALID_ARGUMENT for sizes that are not positive integers. */
export function fittedOf(picture: { readonly width: number; readonly height: number }, fit: ImageSize): Fitted {
  const [outHeight, outWidth] = both(fit, 'fit')
  const scale = Math.min(outWidth / picture.width, outHeight / picture.height)
  const [width, height] = [picture.width, picture.height].map((length) => Math.max(1, Math.round(length * scale))) as [number, number]
  return { outWidth, outHeight, left: Math.floor((outWidth - width) / 2), top: Math.floor((outHeight - height) / 2), width, height }
}
