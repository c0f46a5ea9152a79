import { check, PtliteError } from '../../../error.js'
import * as kernels from '../../../native/generated/kernels.js'
import { readTensor, writeTensor } from '../../../tensor/data.js'
import { DType } from '../../../tensor/dtype.js'
import { roundHalfEven } from '../../../tensor/half.js'
import { Storage } from '../../../tensor/storage.js'
import { empty, isPerChannel, type PerTensorQuant, type Tensor } from '../../../tensor/tensor.js'
import { castTo, contiguousOf } from '../../support/copy.js'

/** Weights in the layout of the quantized kernels, with what the epilogue needs of them. */
export interface PackedWeights {
  readonly storage: Storage
  /** Rows of the weight matrix: output channels. */
  readonly rows: number
  /** Row length: input channels times kernel taps. */
  readonly depth: number
  readonly scales: readonly number[]
  readonly zeroPoints: readonly number[]
  readonly bias: readonly number[] | null
  readonly epilogues: KeptEpilogue[]
  /** Of weightNumbers. */
  numbers?: Epilogue
}

/** Scales and zero points per output channel, which is dimension `axis` of the weight. */
export function channelQuant(weight: Tensor, axis: number): { scales: readonly number[]; zeroPoints: readonly number[] } {
  const { quant } = weight
  if (quant === null) throw new PtliteError('INVALID_DTYPE', `expected a quantized weight, found ${weight.dtype}`)
  const n = weight.shape[axis]!
  if (isPerChannel(quant)) {
    check(quant.axis === axis && quant.scales.length === n, () => `expected a scale for each of ${n} output channels on dimension ${axis}`)
    return quant
  }
  return { scales: new Array<number>(n).fill(quant.scale), zeroPoints: new Array<number>(n).fill(quant.zeroPoint) }
}

/** A float32 bias as numbers. */
export function biasNumbers(bias: Tensor | null, n: number): readonly number[] | null {
  if (bias === null) return null
  check(bias.numel === n, () => `expected a bias of ${n} elements, found ${bias.numel}`)
  return Array.from(readTensor(castTo(bias, DType.float32)), Number)
}

/** Packs a dense [rows, depth] matrix of 8-bit weights for quantized_gemm. */
export function packMatrix(
  weight: Tensor,
  rows: number,
  depth: number,
  scales: readonly number[],
  zeroPoints: readonly number[],
  bias: readonly number[] | null,
): PackedWeights {
  const dense = contiguousOf(weight)
  const storage = Storage.allocate(kernels.quantized_gemm_pack_size({ n: rows, k: depth }))
  storage.watch()
  const zeros = ints(zeroPoints)
  kernels.quantized_gemm_pack({ n: rows, k: depth, dtype: weight.type, w: dense.address, zero_points: zeros.address, out: storage.address })
  zeros.release()
  return { storage, rows, depth, scales, zeroPoints, bias, epilogues: [] }
}

/** Channels whose weights quantized_depthwise reads together. */
const DEPTHWISE_GROUP = 16

/** Weights in the form of quantized_depthwise, from a dense [channels, taps] matrix: see there. */
export function packDepthwise(
  weight: Tensor,
  channels: number,
  taps: number,
  scales: readonly number[],
  zeroPoints: readonly number[],
  bias: readonly number[] | null,
): PackedWeights {
  const data = readTensor(weight)
  const quads = Math.ceil(taps / 4)
  const packed = new Int16Array(Math.ceil(channels / DEPTHWISE_GROUP) * DEPTHWISE_GROUP * 4 * quads)
  for (let c = 0; c < channels; c++) {
    const group = Math.floor(c / DEPTHWISE_GROUP)
    for (let tap = 0; tap < taps; tap++) {
      const row = (group * quads + (tap >> 2)) * 2 + (tap & 1)
      const at = (row * DEPTHWISE_GROUP + (c % DEPTHWISE_GROUP)) * 2 + ((tap >> 1) & 1)
      packed[at] = Number(data[c * taps + tap]) - zeroPoints[c]!
    }
  }
  const t = empty([packed.length], DType.int16)
  writeTensor(t, packed)
  t.pinned = true
  t.storage.watch()
  return { storage: t.storage, rows: channels, depth: taps, scales, zeroPoints, bias, epilogues: [] }
}

export interface Epilogue {
  readonly scales: Tensor
  /** int32 in units of input scale times weight scale; float32 for a float32 result. */
  readonly bias: Tensor
}

interface KeptEpilogue {
  readonly inputScale: number
  readonly outputScale: number
  readonly epilogue: Epilogue
}

/** Epilogues kept per layer; a layer is mostly called with the same parameters. */
const MAX_KEPT = 8

/**
 * Per-channel factors from sums of integers to integers of `output`, and the bias in units of the sums. Kept for later calls
 * unless `passing`, for parameters that come from the data.
 */
export function requantization(packed: PackedWeights, input: PerTensorQuant, output: PerTensorQuant, passing = false): Epilogue {
  for (const kept of packed.epilogues) {
    if (kept.inputScale === input.scale && kept.outputScale === output.scale) return kept.epilogue
  }
  const epilogue = makeRequantization(packed, input, output)
  if (passing || packed.epilogues.length >= MAX_KEPT) return epilogue
  keep(epilogue)
  packed.epilogues.push({ inputScale: input.scale, outputScale: output.scale, epilogue })
  return epilogue
}

/** For as long as the weights. */
function keep({ scales, bias }: Epilogue): void {
  for (const t of [scales, bias]) {
    t.pinned = true
    t.storage.watch()
  }
}

/** float32 throughout, as PyTorch quantizes the bias: a multiplication by the inverse of the scale. */
function makeRequantization(packed: PackedWeights, input: PerTensorQuant, output: PerTensorQuant): Epilogue {
  const inputScale = Math.fround(input.scale)
  const scales = new Float32Array(packed.rows)
  const bias = new Int32Array(packed.rows)
  for (let i = 0; i < packed.rows; i++) {
    const weightScale = Math.fround(packed.scales[i]!)
    const product = Math.fround(inputScale * weightScale)
    scales[i] = Math.fround(product / Math.fround(output.scale))
    if (packed.bias !== null) {
      const q = roundHalfEven(Math.fround(packed.bias[i]! * Math.fround(1 / product)))
      bias[i] = Math.max(-2147483648, Math.min(2147483647, q))
    }
  }
  return { scales: filled(scales, DType.float32), bias: filled(bias, DType.int32) }
}

/** Per-channel factors from sums of integers to float32, and the float32 bias. */
export function dequantization(packed: PackedWeights, inputScale: number): Epilogue {
  const scales = Float32Array.from(packed.scales, (s) => Math.fround(inputScale) * Math.fround(s))
  const bias = packed.bias === null ? new Float32Array(packed.rows) : Float32Array.from(packed.bias)
  return { scales: filled(scales, DType.float32), bias: filled(bias, DType.float32) }
}

/** The scales of the weights and the bias, float32 tensors that are kept with them. */
export function weightNumbers(packed: PackedWeights): Epilogue {
  if (packed.numbers !== undefined) return packed.numbers
  packed.numbers = dequantization(packed, 1)
  keep(packed.numbers)
  return packed.numbers
}

function filled(data: Float32Array | Int32Array, type: DType): Tensor {
  const t = empty([data.length], type)
  writeTensor(t, data)
  return t
}

function ints(values: readonly number[]): Tensor {
  return filled(Int32Array.from(values), DType.int32)
}
