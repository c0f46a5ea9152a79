import { check } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { anything, boolean, oneOf, reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { shapeText } from '../../runtime/tensor/shape.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator } from '../../src/values/operators.js'
import { deviations, type PerPlane, perPlane } from './levels.js'
import { readOptions } from '../../src/values/read-options.js'

/** What a network's picture is made of. */
export interface PixelOptions {
  /** Whether pixels of 1 or 3 channels get an alpha of 255, as an `ImageData` has them. Default false. */
  readonly alpha?: boolean
  /** Of the tensor. Default 'rgb'. */
  readonly order?: 'rgb' | 'bgr'
  /** What was taken off the pixels: see ImageOptions. Default 0. */
  readonly mean?: PerPlane
  /** By what they were divided. Default 1. */
  readonly std?: PerPlane
}

/** Interleaved bytes, row by row. Of 4 channels they are the data of an `ImageData`. */
export interface Image {
  /** width x height x channels bytes. */
  readonly data: Uint8ClampedArray
  /** In pixels. */
  readonly width: number
  /** In pixels. */
  readonly height: number
  /** Bytes of a pixel. */
  readonly channels: 1 | 3 | 4
}

const TESTS = { alpha: boolean, order: oneOf('rgb', 'bgr'), mean: anything, std: anything } satisfies Record<keyof PixelOptions, unknown>

/**
 * The picture of a tensor [channels, height, width] or [1, channels, height, width] with 1, 3 or 4 channels: 255 (x std + mean), rounded half to even, from 0 to 255;
 * NaN is 0. The fourth channel is alpha, from 0 to 1, without mean and std. Tensors of uint8 are pixels already. Throws INVALID_ARGUMENT for other shapes and what is
 * no option.
 */
export function tensorToImage(tensor: Tensor, options: PixelOptions = {}): Image {
  return reading(() => {
    const given = readOptions(options, TESTS, 'tensorToImage()')
    check(tensor instanceof Tensor, () => `expected a tensor, found ${kindOf(tensor)}`)
    return imageOf(tensor, given)
  })
}

function imageOf(tensor: Tensor, { alpha = false, order = 'rgb', mean, std }: PixelOptions): Image {
  const { shape } = tensor
  const [planes, height, width] = shape.length === 4 && shape[0] === 1 ? shape.slice(1) : shape
  check(
    [3, 4].includes(shape.length) &&
      width !== undefined &&
      height !== undefined &&
      (planes === 1 || planes === 3 || planes === 4) &&
      height > 0 &&
      width > 0,
    () => `expected a tensor [channels, height, width] with 1, 3 or 4 channels, found ${shapeText(shape)}`,
  )
  const isBytes = tensor.dtype === 'uint8'
  const colours = planes === 1 ? 1 : 3
  const means = perPlane(mean, colours, 'mean', 0)
  const deviation = deviations(std, colours)
  const samples = alpha || planes === 4 ? 4 : colours
  const source = callOperator<Tensor>('aten::contiguous', [callOperator<Tensor>('aten::to.dtype', [tensor, 'float32'])])
  const pixels = height! * width!
  const reversed = Number(order === 'bgr')
  const unit = isBytes ? 1 : 255
  const [scale, shift] = [deviation.map((s) => unit * s), means.map((m) => 255 * m)]
  const data = new Uint8ClampedArray(samples * pixels)
  kernels.planes_to_image({ planes: colours, samples, reversed, pixels, scale, shift, in: source.address }, data)
  if (planes === 4) {
    const opacities = new Uint8Array(pixels)
    const opacity = { planes: 1, samples: 1, reversed: 0, pixels, scale: [unit], shift: [0] }
    kernels.planes_to_image({ ...opacity, in: source.address + 3 * pixels * source.itemSize }, opacities)
    for (let i = 0; i < pixels; i++) data[4 * i + 3] = opacities[i]!
  }
  return { data, width: width!, height: height!, channels: samples }
}
