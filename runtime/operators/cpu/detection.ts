import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { noteRead } from '../../tensor/observe.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import type { CPU } from '../support/generated/interfaces.js'

function checkReal(x: Tensor, what: string): void {
  check(x.type === DType.float32 || x.type === DType.float64, () => `expected ${what} of float32 or float64, found ${x.dtype}`)
}

/**
 * torchvision.ops.nms: numbers of the boxes (N x 4: x1, y1, x2, y2) to keep, by falling score, as int64. A box is dropped
 * if its intersection over union with a kept one is greater than `threshold`.
 */
export function nms(dets: Tensor, scores: Tensor, threshold: number): Tensor {
  check(dets.dim === 2 && dets.shape[1] === 4, () => `expected boxes of shape [N, 4], found [${dets.shape.join(', ')}]`)
  const count = dets.shape[0]!
  check(scores.dim === 1 && scores.shape[0] === count, () => `expected ${count} scores, found shape [${scores.shape.join(', ')}]`)
  checkReal(dets, 'boxes')
  check(scores.type === dets.type, () => `expected scores of the boxes' dtype ${dets.dtype}, found ${scores.dtype}`)
  const keep = empty([count], DType.int64)
  const boxes = contiguousOf(dets)
  const order = contiguousOf(scores)
  noteRead(dets)
  const kept = kernels.nms({ dtype: dets.type, count, boxes: boxes.address, scores: order.address, keep: keep.address, threshold })
  return viewOf(keep, [kept], [1])
}

/** torchvision.ops.box_iou of boxes (x, y, width, height, degrees): intersection over union of each of the first with each of the second, in float32. */
export function box_iou_rotated(first: Tensor, second: Tensor): Tensor {
  for (const boxes of [first, second]) {
    check(boxes.dim === 2 && boxes.shape[1] === 5, () => `expected boxes of shape [N, 5], found [${boxes.shape.join(', ')}]`)
    checkReal(boxes, 'boxes')
  }
  check(first.type === second.type, () => `expected boxes of one dtype, found ${first.dtype} and ${second.dtype}`)
  const [rows, columns] = [first.shape[0]!, second.shape[0]!]
  const result = empty([rows, columns], DType.float32)
  const [a, b] = [contiguousOf(first), contiguousOf(second)]
  if (result.numel > 0) {
    kernels.box_iou_rotated({ dtype: first.type, rows, columns, first: a.address, second: b.address, out: result.address })
  }
  return result
}

interface Regions {
  readonly shape: [number, number, number, number]
  readonly fields: {
    dtype: DType
    rois: number
    batch: number
    channels: number
    height: number
    width: number
    out_height: number
    out_width: number
    in: number
    roi: number
    scale: number
  }
}

function regions(input: Tensor, rois: Tensor, scale: number, height: number, width: number): Regions {
  check(input.dim === 4, () => `expected features of shape [N, C, H, W], found [${input.shape.join(', ')}]`)
  check(rois.dim === 2 && rois.shape[1] === 5, () => `expected regions of shape [K, 5], found [${rois.shape.join(', ')}]`)
  check(height > 0 && width > 0, () => `expected a positive output size, found ${height} x ${width}`)
  checkReal(input, 'features')
  check(rois.type === input.type, () => `expected regions of the features' dtype ${input.dtype}, found ${rois.dtype}`)
  const [batch, channels, inHeight, inWidth] = input.shape as [number, number, number, number]
  check(inHeight > 0 && inWidth > 0, () => `expected features of at least one pixel, found ${inHeight} x ${inWidth}`)
  return {
    shape: [rois.shape[0]!, channels, height, width],
    fields: {
      dtype: input.type,
      rois: rois.shape[0]!,
      batch,
      channels,
      height: inHeight,
      width: inWidth,
      out_height: height,
      out_width: width,
      in: contiguousOf(input).address,
      roi: contiguousOf(rois).address,
      scale,
    },
  }
}

/**
 * torchvision.ops.roi_align: averages of bilinear samples over the bins of each region (image, x1, y1, x2, y2). `aligned` moves
 * the samples by half a pixel and lets regions be smaller than one.
 */
export const roi_align: CPU['roi_align'] = (input, rois, scale, height, width, sampling, aligned) => {
  const { shape, fields } = regions(input, rois, scale, height, width)
  const out = empty(shape, input.type)
  kernels.roi_align({ ...fields, sampling: samples(sampling), aligned: Number(aligned), out: out.address })
  return out
}

/** More samples of a bin than there are pixels in any image. */
const MAX_SAMPLES = 2 ** 15

function samples(ratio: number): number {
  check(ratio <= MAX_SAMPLES, () => `expected at most ${MAX_SAMPLES} samples for a bin, found ${ratio}`)
  return Math.max(ratio, 0)
}

/** As roi_align of each bin from a plane of its own, of which there are as many as bins for each channel of the result. */
export const ps_roi_align: CPU['ps_roi_align'] = (input, rois, scale, height, width, sampling) => {
  const { shape, fields } = binned(input, rois, scale, height, width)
  const [out, mapping] = [empty(shape, input.type), empty(shape, DType.int32)]
  if (out.numel > 0) kernels.ps_roi_align({ ...fields, sampling: samples(sampling), out: out.address, mapping: mapping.address })
  return [out, mapping]
}

/** Means of bins, each from a plane of its own (torchvision.ops.ps_roi_pool). */
export function ps_roi_pool(input: Tensor, rois: Tensor, scale: number, height: number, width: number): [Tensor, Tensor] {
  const { shape, fields } = binned(input, rois, scale, height, width)
  const [out, mapping] = [empty(shape, input.type), empty(shape, DType.int32)]
  if (out.numel > 0) kernels.ps_roi_pool({ ...fields, out: out.address, mapping: mapping.address })
  return [out, mapping]
}

function binned(input: Tensor, rois: Tensor, scale: number, height: number, width: number): Regions {
  const { shape, fields } = regions(input, rois, scale, height, width)
  const [count, channels] = shape
  check(channels % (height * width) === 0, () => `expected a multiple of ${height * width} channels, found ${channels}`)
  return { shape: [count, channels / (height * width), height, width], fields }
}

/** torchvision.ops.roi_pool: maxima over the bins of each region, and their places in the plane (int32). */
export function roi_pool(input: Tensor, rois: Tensor, scale: number, height: number, width: number): [Tensor, Tensor] {
  const { shape, fields } = regions(input, rois, scale, height, width)
  const out = empty(shape, input.type)
  const argmax = empty(shape, DType.int32)
  kernels.roi_pool({ ...fields, out: out.address, argmax: argmax.address })
  return [out, argmax]
}
