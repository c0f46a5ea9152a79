import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type PerTensorQuant, type Tensor } from '../../tensor/tensor.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { castTo } from '../cpu/support/copy.js'
import { dequantized, perTensor, quantizePerTensor } from '../cpu/support/quantization.js'

/** Normalisation of quantized tensors: statistics in float32 from the integers, result quantized anew, as PyTorch does. */

function numbers(t: Tensor | null, n: number, what: string): Float32Array | null {
  if (t === null) return null
  check(t.numel === n, () => `${what}: expected ${n} elements, found ${t.numel}`)
  return readTensor(castTo(t, DType.float32)) as Float32Array
}

function toTensor(data: Float32Array, like: Tensor, to: PerTensorQuant): Tensor {
  const x = empty(like.shape, DType.float32)
  writeTensor(x, data)
  return quantizePerTensor(x, to.scale, to.zeroPoint, like.type)
}

/** Normalises each of `groups` equal runs; `factorOf` gives weight and bias for an element's position. */
function normalize(
  t: Tensor,
  groups: number,
  eps: number,
  to: PerTensorQuant,
  factorOf: (index: number) => number,
  weight: Float32Array | null,
  bias: Float32Array | null,
): Tensor {
  perTensor(t, 'this operator')
  const data = readTensor(dequantized(t)) as Float32Array
  const n = groups === 0 ? 0 : data.length / groups
  for (let g = 0; g < groups; g++) {
    let sum = 0
    let squares = 0
    for (let i = g * n; i < (g + 1) * n; i++) {
      sum += data[i]!
      squares += data[i]! ** 2
    }
    const mean = sum / n
    const scale = 1 / Math.sqrt(Math.max(squares / n - mean * mean, 0) + eps)
    for (let i = g * n; i < (g + 1) * n; i++) {
      const k = factorOf(i)
      data[i] = (data[i]! - mean) * scale * (weight?.[k] ?? 1) + (bias?.[k] ?? 0)
    }
  }
  return toTensor(data, t, to)
}

export function layer_norm(
  t: Tensor,
  normalizedShape: number[],
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  scale: number,
  zeroPoint: number,
): Tensor {
  const tail = t.shape.slice(t.dim - normalizedShape.length)
  check(normalizedShape.length > 0 && tail.join() === normalizedShape.join(), () => {
    return `layer_norm: expected an input that ends in [${normalizedShape.join(', ')}], found [${t.shape.join(', ')}]`
  })
  const n = normalizedShape.reduce((a, b) => a * b, 1)
  const [w, b] = [numbers(weight, n, 'weight'), numbers(bias, n, 'bias')]
  return normalize(t, n === 0 ? 0 : t.numel / n, eps, { scale, zeroPoint }, (i) => i % n, w, b)
}

export function group_norm(
  t: Tensor,
  groups: number,
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  scale: number,
  zeroPoint: number,
): Tensor {
  check(t.dim >= 2, () => `group_norm: expected at least 2 dimensions, found ${t.dim}`)
  const channels = t.shape[1]!
  check(groups > 0 && channels % groups === 0, () => `group_norm: ${groups} groups do not divide ${channels} channels`)
  const inner = t.shape.slice(2).reduce((a, b) => a * b, 1)
  const [w, b] = [numbers(weight, channels, 'weight'), numbers(bias, channels, 'bias')]
  return normalize(t, t.shape[0]! * groups, eps, { scale, zeroPoint }, (i) => Math.floor(i / inner) % channels, w, b)
}

export function instance_norm(
  t: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  scale: number,
  zeroPoint: number,
): Tensor {
  check(t.dim >= 2, () => `instance_norm: expected at least 2 dimensions, found ${t.dim}`)
  return group_norm(t, t.shape[1]!, weight, bias, eps, scale, zeroPoint)
}

function batchNorm(
  t: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  mean: Tensor,
  variance: Tensor,
  eps: number,
  to: PerTensorQuant,
  relu: boolean,
): Tensor {
  perTensor(t, 'batch_norm')
  check(t.dim >= 2, () => `batch_norm: expected at least 2 dimensions, found ${t.dim}`)
  const channels = t.shape[1]!
  const [w, b] = [numbers(weight, channels, 'weight'), numbers(bias, channels, 'bias')]
  const [m, v] = [numbers(mean, channels, 'mean')!, numbers(variance, channels, 'var')!]
  const inner = t.shape.slice(2).reduce((x, y) => x * y, 1)
  const data = readTensor(dequantized(t)) as Float32Array
  for (let i = 0; i < data.length; i++) {
    const c = Math.floor(i / inner) % channels
    const y = ((data[i]! - m[c]!) / Math.sqrt(v[c]! + eps)) * (w?.[c] ?? 1) + (b?.[c] ?? 0)
    data[i] = relu ? Math.max(y, 0) : y
  }
  return toTensor(data, t, to)
}

export function batch_norm(
  t: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  mean: Tensor,
  variance: Tensor,
  eps: number,
  scale: number,
  zeroPoint: number,
): Tensor {
  return batchNorm(t, weight, bias, mean, variance, eps, { scale, zeroPoint }, false)
}

export function batch_norm_relu(
  t: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  mean: Tensor,
  variance: Tensor,
  eps: number,
  scale: number,
  zeroPoint: number,
): Tensor {
  return batchNorm(t, weight, bias, mean, variance, eps, { scale, zeroPoint }, true)
}
