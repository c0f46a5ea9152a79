import { check } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { anything, oneOf, reading } from '../../runtime/tensor/check-arguments.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator } from '../operators.js'
import { geometryOf, type ImageSize } from './geometry.js'
import { deviations, levelsOf, type PerPlane, perPlane } from './levels.js'
import { type ImageSource, type Picture, pictureOf } from './pixels.js'
import { readOptions } from '../read-options.js'

/** What a network wants of a picture. */
export interface ImageOptions {
  /** A number is the length of the shorter side; [height, width] is both. Without it the picture keeps its size. */
  readonly resize?: ImageSize
  /** How it is resized, with antialiasing but for 'nearest'; bytes are Pillow's. Default 'bilinear'. */
  readonly filter?: 'nearest' | 'bilinear' | 'bicubic' | 'lanczos'
  /** The part in the middle that is kept, after resizing. */
  readonly crop?: ImageSize
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
export function imageToTensor(image: ImageSource | readonly ImageSource[], options: ImageOptions = {}): Tensor {
  return reading(() => {
    const given = readOptions(options, TESTS, 'imageToTensor()')
    const pictures = (Array.isArray(image) ? (image as readonly ImageSource[]) : [image as ImageSource]).map(pictureOf)
    check(pictures.length > 0, () => 'expected at least one image, found an empty list')
    return tensorOf(pictures, given)
  })
}

function tensorOf(pictures: readonly Picture[], options: ImageOptions): Tensor {
  const { resize, filter = 'bilinear', crop, channels = 3, order = 'rgb', mean, std } = options
  const levels = levelsOf(perPlane(mean, channels, 'mean', 0), deviations(std, channels))
  const places = pictures.map((picture) => geometryOf(picture, resize, crop))
  const { width, height } = places[0]!
  for (const [i, place] of places.entries())
    check(
      place.width === width && place.height === height,
      () =>
        `picture ${i} comes to ${place.width} x ${place.height}, the first one to ${width} x ${height}; give \`crop\`, or \`resize: [height, width]\``,
    )
  const result = callOperator<Tensor>('aten::empty.memory_format', [[pictures.length, channels, height, width]])
  for (const [i, { bytes, width: inWidth, height: inHeight, channels: samples }] of pictures.entries()) {
    const { resizedWidth, resizedHeight, left, top } = places[i]!
    kernels.image_to_planes(
      {
        filter: kernels.PixelFilter[filter],
        samples,
        planes: channels,
        reversed: Number(order === 'bgr'),
        width: inWidth,
        height: inHeight,
        resized_width: resizedWidth,
        resized_height: resizedHeight,
        left,
        top,
        out_width: width,
        out_height: height,
        levels,
        out: result.address + 4 * i * channels * height * width,
      },
      bytes,
    )
  }
  return result
}
