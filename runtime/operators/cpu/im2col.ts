import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, holdsComplex, isFloating } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { writeOutExact } from '../support/write-out.js'
import { onParts } from './complex-functions.js'
import type { CPU } from '../support/generated/interfaces.js'

interface Window {
  readonly kernel: readonly number[]
  readonly dilation: readonly number[]
  readonly padding: readonly number[]
  readonly stride: readonly number[]
}

function checkWindow(operator: string, self: Tensor, w: Window): void {
  for (const [name, list] of Object.entries(w) as [keyof Window, readonly number[]][]) {
    const least = name === 'padding' ? 0 : 1
    check(
      list.length === 2 && list.every((n) => n >= least && Number.isSafeInteger(n)),
      () => `${operator}: expected two ${name} numbers of at least ${least}, found [${list.join(', ')}]`,
    )
  }
  if (!isFloating(self.type) && self.type !== DType.bool)
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected a floating point dtype or bool, found ${self.dtype}`)
}

/** How many windows fit along height and width. */
function windowCounts(operator: string, size: readonly number[], w: Window): [number, number] {
  const count = (k: 0 | 1): number =>
    Math.floor((size[k]! + 2 * w.padding[k]! - (w.dilation[k]! * (w.kernel[k]! - 1) + 1)) / w.stride[k]!) + 1
  const counts: [number, number] = [count(0), count(1)]
  check(counts[0] > 0 && counts[1] > 0, () => `${operator}: no window of [${w.kernel.join(', ')}] fits into [${size.join(', ')}]`)
  return counts
}

function frameOf(image: Tensor, columns: Tensor, planes: number, size: readonly number[], counts: readonly number[], w: Window) {
  return {
    item_size: image.itemSize,
    dtype: image.type,
    planes,
    height: size[0]!,
    width: size[1]!,
    out_height: counts[0]!,
    out_width: counts[1]!,
    kernel_height: w.kernel[0]!,
    kernel_width: w.kernel[1]!,
    pad_height: w.padding[0]!,
    pad_width: w.padding[1]!,
    stride_height: w.stride[0]!,
    stride_width: w.stride[1]!,
    dilation_height: w.dilation[0]!,
    dilation_width: w.dilation[1]!,
    image: image.address,
    columns: columns.address,
  }
}

/** torch.nn.functional.unfold: the elements under each window of (N x) C x H x W as columns. */
export function im2col(self: Tensor, kernel: number[], dilation: number[], padding: number[], stride: number[], out?: Tensor): Tensor {
  if (holdsComplex(self)) {
    return writeOutExact(
      onParts(self, (part) => im2col(part, kernel, dilation, padding, stride)),
      out,
      'im2col',
    )
  }
  const w = { kernel, dilation, padding, stride }
  checkWindow('im2col', self, w)
  const batched = self.dim === 4
  check((batched || self.dim === 3) && self.shape.slice(batched ? 1 : 0).every((n) => n > 0), () =>
    `im2col: expected 3 or 4 dimensions with elements, found [${self.shape.join(', ')}]`,
  ) // prettier-ignore
  const size = self.shape.slice(-2)
  const channels = self.shape[self.dim - 3]!
  const counts = windowCounts('im2col', size, w)
  const rows = channels * kernel[0]! * kernel[1]!
  const columns = empty([...(batched ? [self.shape[0]!] : []), rows, counts[0] * counts[1]], self.type)
  const planes = (batched ? self.shape[0]! : 1) * channels
  if (columns.numel > 0) kernels.windows_to_columns(frameOf(contiguousOf(self), columns, planes, size, counts, w))
  return writeOutExact(columns, out, 'im2col')
}

/** torch.nn.functional.fold: the sum of the columns' elements where their windows lie in an image of `outputSize`. */
export const col2im: CPU['col2im'] = (self, outputSize, kernel, dilation, padding, stride, out) => {
  if (holdsComplex(self)) {
    return writeOutExact(
      onParts(self, (part) => col2im(part, outputSize, kernel, dilation, padding, stride)),
      out,
      'col2im',
    )
  }
  // a sum of bools is whether one of them is true
  if (self.type === DType.bool) {
    const sums = col2im(castTo(self, DType.float32), outputSize, kernel, dilation, padding, stride)
    return writeOutExact(castTo(sums, DType.bool), out, 'col2im')
  }
  const w = { kernel, dilation, padding, stride }
  checkWindow('col2im', self, w)
  const batched = self.dim === 3
  check((batched || self.dim === 2) && self.shape.slice(batched ? 1 : 0).every((n) => n > 0), () =>
    `col2im: expected 2 or 3 dimensions with elements, found [${self.shape.join(', ')}]`,
  ) // prettier-ignore
  check(
    outputSize.length === 2 && outputSize.every((n) => n > 0),
    () => `col2im: expected two sizes above 0, found [${outputSize.join(', ')}]`,
  )
  const counts = windowCounts('col2im', outputSize, w)
  const area = kernel[0]! * kernel[1]!
  const rows = self.shape[self.dim - 2]!
  const windows = self.shape[self.dim - 1]!
  check(rows % area === 0, () => `col2im: expected a multiple of ${area} rows, found ${rows}`)
  check(windows === counts[0] * counts[1], () => `col2im: expected ${counts[0]} x ${counts[1]} windows, found ${windows}`)
  const channels = rows / area
  const image = empty([...(batched ? [self.shape[0]!] : []), channels, ...outputSize], self.type)
  const planes = (batched ? self.shape[0]! : 1) * channels
  if (image.numel > 0) kernels.columns_to_windows(frameOf(image, contiguousOf(self), planes, outputSize, counts, w))
  return writeOutExact(image, out, 'col2im')
}
