import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, integerType } from '../../tensor/dtype.js'
import { notComplex } from '../../tensor/promote.js'
import { type AnyScalar, Float, scalarToNumber } from '../../tensor/scalar.js'
import { narrow } from '../../tensor/view.js'
import { empty, isPerChannel, type Tensor } from '../../tensor/tensor.js'
import { laidOutAsSuggested, laidOutLike } from '../support/copy.js'
import { writeOutExact } from '../support/write-out.js'
import { anyScalarTensor } from '../support/fill.js'

/** Pads the last dims; `pad` holds before and after of the last dim, then of the one before it, and so on. Callers check how far a mode reaches. */
function padLast(mode: keyof typeof kernels.PadMode, self: Tensor, pad: readonly number[], value: AnyScalar): Tensor {
  const rank = self.dim
  const shape = [...self.shape]
  const before = shape.map(() => 0)
  for (let k = 0; k < pad.length / 2; k++) {
    const d = rank - 1 - k
    before[d] = pad[2 * k]!
    shape[d] = shape[d]! + pad[2 * k]! + pad[2 * k + 1]!
    check(
      shape[d]! >= (mode === 'constant' ? 0 : 1),
      () => `pad: [${pad.join(', ')}] leaves nothing of dimension ${d} of shape [${self.shape.join(', ')}]`,
    )
  }
  const out = empty(shape, self.type, self.quant)
  if (out.numel === 0) return out
  check(mode === 'constant' || self.numel > 0, () => `pad: shape [${self.shape.join(', ')}] has no elements to pad with`)
  const fill = anyScalarTensor(fillOf(self, value), integerType(self.type))
  const flip = (list: readonly number[], lone: number): number[] => (rank === 0 ? [lone] : [...list].reverse())
  kernels.pad({
    mode: kernels.PadMode[mode],
    item_size: self.itemSize,
    ndim: Math.max(rank, 1),
    in_sizes: flip(self.shape, 1),
    out_sizes: flip(shape, 1),
    before: flip(before, 0),
    in_strides: flip(self.strides, 1),
    in: self.address,
    out: out.address,
    value: fill.address,
  })
  return out
}

/** The scalar in the units of the tensor's storage: integers where it is quantized. */
function fillOf(self: Tensor, value: AnyScalar): AnyScalar {
  const { quant } = self
  if (quant === null || isPerChannel(quant)) return value
  const [low, high] = self.type === DType.quint8 ? [0, 255] : self.type === DType.qint8 ? [-128, 127] : [-(2 ** 31), 2 ** 31 - 1]
  const x = scalarToNumber(notComplex(value)) / quant.scale
  const even = Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x)
  return Math.min(Math.max(even + quant.zeroPoint, low), high)
}

/** What pads of 0 and less leave of a tensor. */
function remaining(self: Tensor, pad: readonly number[]): Tensor {
  return pad.reduce((t, p, i) => {
    const d = self.dim - 1 - (i >> 1)
    return narrow(t, d, i % 2 === 0 ? -p : 0, t.shape[d]! + p)
  }, self)
}

/** torch.constant_pad_nd: `value` around the last dims, or less of them where a number is negative. */
export function constant_pad_nd(self: Tensor, pad: number[], value: AnyScalar, out?: Tensor): Tensor {
  check(
    pad.length % 2 === 0 && pad.length <= 2 * self.dim,
    () => `pad: expected two numbers for each of at most ${self.dim} dimensions, found ${pad.length}`,
  )
  const padded = padLast('constant', self, pad, value)
  if (out !== undefined) return writeOutExact(padded, out, 'constant_pad_nd')
  const isPart = pad.every((p) => p <= 0)
  const like = isPart ? remaining(self, pad) : self
  return isPart ? laidOutLike(padded, like) : laidOutAsSuggested(padded, like)
}

/** A result of a mode that repeats elements: images and volumes keep their memory format. */
function inFormatOf(self: Tensor, padded: Tensor): Tensor {
  return laidOutAsSuggested(padded, self)
}

function checkSpatial(operator: string, self: Tensor, padding: readonly number[]): void {
  const spatial = padding.length / 2
  const batched = self.dim === spatial + 2
  check(batched || self.dim === spatial + 1, () => `${operator}: expected ${spatial + 1} or ${spatial + 2} dimensions, found ${self.dim}`)
  const first = batched ? 1 : 0
  check(self.shape.slice(first).every((n) => n > 0), () =>
    `${operator}: expected elements in all dimensions but the batch, found [${self.shape.join(', ')}]`,
  ) // prettier-ignore
}

function mirrored(operator: string, self: Tensor, padding: number[], out?: Tensor): Tensor {
  checkSpatial(operator, self, padding)
  padding.forEach((p, i) => {
    const size = self.shape[self.dim - 1 - (i >> 1)]!
    check(p < size, () => `${operator}: expected padding below the size ${size} of its dimension, found ${p}`)
  })
  checkResult(operator, self, padding)
  return writeOutExact(inFormatOf(self, padLast('reflect', self, padding, 0)), out, operator)
}

function replicated(operator: string, self: Tensor, padding: number[], out?: Tensor): Tensor {
  checkSpatial(operator, self, padding)
  checkResult(operator, self, padding)
  return writeOutExact(inFormatOf(self, padLast('replicate', self, padding, 0)), out, operator)
}

function checkResult(operator: string, self: Tensor, padding: readonly number[]): void {
  for (let k = 0; k < padding.length / 2; k++) {
    const size = self.shape[self.dim - 1 - k]! + padding[2 * k]! + padding[2 * k + 1]!
    check(size >= 1, () => `${operator}: padding [${padding.join(', ')}] leaves nothing of [${self.shape.join(', ')}]`)
  }
}

/** torch.reflection_pad1d: mirrored at the border elements, which are not repeated. */
export function reflection_pad1d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return mirrored('reflection_pad1d', self, padding, out)
}

export function reflection_pad2d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return mirrored('reflection_pad2d', self, padding, out)
}

export function reflection_pad3d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return mirrored('reflection_pad3d', self, padding, out)
}

/** torch.replication_pad1d: the border elements repeated. */
export function replication_pad1d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return replicated('replication_pad1d', self, padding, out)
}

export function replication_pad2d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return replicated('replication_pad2d', self, padding, out)
}

export function replication_pad3d(self: Tensor, padding: number[], out?: Tensor): Tensor {
  return replicated('replication_pad3d', self, padding, out)
}

/** What negative numbers leave of the input, continued periodically; no dim may be padded by more than its size. */
export function _pad_circular(self: Tensor, pad: number[]): Tensor {
  checkSpatial('pad', self, pad)
  checkResult('pad', self, pad)
  const cut = pad.map((p) => Math.min(p, 0))
  pad.forEach((p, k) => {
    const size = self.shape[self.dim - 1 - (k >> 1)]! + cut[k]! + cut[k ^ 1]!
    check(p <= size && size > 0, () => `pad: expected circular padding of at most the size ${size} of its dimension, found ${p}`)
  })
  return padLast('circular', remaining(self, cut), pad.map((p) => Math.max(p, 0)), 0) // prettier-ignore
}

/** torch.nn.functional.pad. Modes other than constant pad the last one to three dims of a (batched) image. */
export function pad(self: Tensor, padding: number[], mode: string, value: number | null): Tensor {
  if (mode === 'constant') return constant_pad_nd(self, padding, new Float(value ?? 0))
  check(value === null || value === 0, () => `pad: mode '${mode}' takes no value, found ${value}`)
  const spatial = padding.length / 2
  check([1, 2, 3].includes(spatial) && (self.dim === spatial + 1 || self.dim === spatial + 2), () =>
    `pad: mode '${mode}' pads the last 1, 2 or 3 dimensions of 2 to 5, found ${padding.length} numbers for ${self.dim} dimensions`,
  ) // prettier-ignore
  switch (mode) {
    case 'reflect':
      return mirrored(`reflection_pad${spatial}d`, self, padding)
    case 'replicate':
      return replicated(`replication_pad${spatial}d`, self, padding)
    case 'circular':
      return _pad_circular(self, padding)
    default:
      throw new PtliteError('INVALID_ARGUMENT', `pad: expected mode constant, reflect, replicate or circular, found '${mode}'`)
  }
}
