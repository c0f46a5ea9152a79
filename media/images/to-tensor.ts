import { check } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { anything, oneOf, reading } from '../../runtime/tensor/check-arguments.js'
import { float } from '../../runtime/tensor/scalar.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator } from '../../src/values/operators.js'
import { fittedOf, type Geometry, geometryOf, type ImageSize } from './geometry.js'
import { deviations, levelsOf, type PerPlane, perPlane } from './levels.js'
import { type ImageSource, type Picture, pictureOf } from './pixels.js'
import { readOptions } from '../../src/values/read-options.js'

/** What a network wants of a picture. */
export interface ImageOptions {
  /** A number is the length of the shorter side; [height, width] is both. Without it the picture keeps its size. */
  readonly resize?: ImageSize
  /** How it is resized, with antialiasing but for 'nearest'; bytes are Pillow's. Default 'bilinear'. */
  readonly filter?: 'nearest' | 'bilinear' | 'bicubic' | 'lanczos'
  /** The part in the middle that is kept, after resizing. */
  readonly crop?: ImageSize
  /**
   * In place of both: the whole picture in the middle of this size, as large as it can be with its proportions. Its scale is
   * `Math.min(width / picture.width, height / picture.height)`, sizes are rounded, and of an odd margin the right or lower one is larger.
   */
  readonly fit?: ImageSize
  /** The byte of all channels that is around a picture with `fit`. Default 0. */
  readonly fill?: number
  /** 3 (default) or 1, which is grey. */
  readonly channels?: 1 | 3
  /** Default 'rgb'. */
  readonly order?: 'rgb' | 'bgr'
  /** Taken off pixels, which are from 0 to 1. Default 0. */
  readonly mean?: PerPlane
  /** By which they are divided then. Default 1. */
  readonly std?: PerPlane
}

const FILTERS = ['nearest', 'bilinear', 'bicubic', 'lanczos'] as const
const TESTS = {
  resize: anything,
  filter: oneOf(...FILTERS),
  crop: anything,
  fit: anything,
  fill: (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255 ? null : 'a whole number from 0 to 255',
  channels: (value: unknown) => (value === 1 || value === 3 ? null : '1 or 3'),
  order: oneOf('rgb', 'bgr'),
  mean: anything,
  std: anything,
} satisfies Record<keyof ImageOptions, unknown>

/**
 * Pictures as a float32 tensor [pictures, channels, height, width], in one native pass: resized, cropped, pixels to (pixel / 255 - mean) / std. The numbers are
 * those of torchvision's Resize, CenterCrop, ToTensor and Normalize of a Pillow image. Alpha is left out. Several pictures must come to one size. Throws
 * INVALID_ARGUMENT for what is no picture or option, OUT_OF_MEMORY.
 */
export function imageToTensor(image: ImageSource | readonly ImageSource[], options: ImageOptions = {}): Tensor<'float32'> {
  return reading(() => {
    const given = readOptions(options, TESTS, 'imageToTensor()')
    const pictures = (Array.isArray(image) ? (image as readonly ImageSource[]) : [image as ImageSource]).map(pictureOf)
    check(pictures.length > 0, () => 'expected at least one image, found an empty list')
    return tensorOf(pictures, given)
  })
}

function tensorOf(pictures: readonly Picture[], options: ImageOptions): Tensor<'float32'> {
  const { resize, filter = 'bilinear', crop, fit, fill = 0, channels = 3, order = 'rgb', mean, std } = options
  check(fit === undefined || (resize === undefined && crop === undefined), () => 'expected either fit, or resize and crop')
  check(fit !== undefined || options.fill === undefined, () => 'expected fit beside fill')
  const levels = levelsOf(perPlane(mean, channels, 'mean', 0), deviations(std, channels))
  const write: Write = (picture, place, out) => writePlanes(picture, place, { filter, channels, order, levels }, out)
  if (fit !== undefined) return fittedTensor(pictures, fit, channels, (plane) => levels[256 * plane + fill]!, write)
  const places = pictures.map((picture) => geometryOf(picture, resize, crop))
  const { width, height } = places[0]!
  for (const [i, place] of places.entries())
    check(
      place.width === width && place.height === height,
      () =>
        `picture ${i} comes to ${place.width} x ${place.height}, the first one to ${width} x ${height}; give \`crop\`, or \`resize: [height, width]\``,
    )
  const result = callOperator<Tensor<'float32'>>('aten::empty.memory_format', [[pictures.length, channels, height, width]])
  for (const [i, picture] of pictures.entries()) write(picture, places[i]!, result.address + 4 * i * channels * height * width)
  return result
}

type Write = (picture: Picture, place: Geometry, out: number) => void

/** Each picture in the middle of its place, which has `levelAround` elsewhere. */
function fittedTensor(
  pictures: readonly Picture[],
  fit: ImageSize,
  channels: number,
  levelAround: (plane: number) => number,
  write: Write,
): Tensor<'float32'> {
  const places = pictures.map((picture) => fittedOf(picture, fit))
  const { outWidth, outHeight } = places[0]!
  const result = callOperator<Tensor<'float32'>>('aten::empty.memory_format', [[pictures.length, channels, outHeight, outWidth]])
  for (let c = 0; c < channels; c++) callOperator('aten::fill_.Scalar', [result.select(1, c), float(levelAround(c))])
  for (const [i, picture] of pictures.entries()) {
    const { left, top, width, height } = places[i]!
    const part = callOperator<Tensor>('aten::empty.memory_format', [[channels, height, width]])
    write(picture, { resizedWidth: width, resizedHeight: height, left: 0, top: 0, width, height }, part.address)
    const place = result
      .select(0, i)
      .slice(1, top, top + height)
      .slice(2, left, left + width)
    callOperator('aten::copy_', [place, part])
  }
  return result
}

interface Levels extends Required<Pick<ImageOptions, 'filter' | 'channels' | 'order'>> {
  readonly levels: readonly number[]
}

function writePlanes(picture: Picture, place: Geometry, { filter, channels, order, levels }: Levels, out: number): void {
  kernels.image_to_planes(
    {
      filter: kernels.PixelFilter[filter],
      samples: picture.channels,
      planes: channels,
      reversed: Number(order === 'bgr'),
      width: picture.width,
      height: picture.height,
      resized_width: place.resizedWidth,
      resized_height: place.resizedHeight,
      left: place.left,
      top: place.top,
      out_width: place.width,
      out_height: place.height,
      levels,
      out,
    },
    picture.bytes,
  )
}
