import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { roundHalfEven } from '../../tensor/rounding.js'
import { contiguousStrides } from '../../tensor/shape.js'
import { empty, isPerChannel, type PerChannelQuant, type Tensor, viewOf } from '../../tensor/tensor.js'
import { CustomObject, Tuple, type Value } from '../../tensor/value.js'
import { embedding_bag } from '../cpu/embedding.js'
import { castTo, contiguousOf } from '../cpu/support/copy.js'
import { dequantized } from '../cpu/support/quantization.js'

const EMBEDDING_CLASS = 'quantized.EmbeddingPackedParamsBase'

interface Table {
  readonly weight: Tensor
  readonly quant: PerChannelQuant
  /** Bits per value: 8, or 4 with two values a byte. */
  readonly bits: number
  /** Values per row. */
  readonly width: number
}

/** State: version, [weight], [], [bits]; as PyTorch writes it. */
export function embedding_bag_prepack(weight: Tensor): CustomObject {
  check(weight.dim === 2 && weight.quant !== null, () => `embedding_bag_prepack: expected a quantized matrix, found ${weight.dtype}`)
  return new CustomObject(EMBEDDING_CLASS, new Tuple([1, [weight], [], [weight.type === DType.quint4x2 ? 4 : 8]]))
}

export function embedding_bag_unpack(packed: Value): Tensor {
  return tableOf(packed).weight
}

function tableOf(value: Value): Table {
  if (!(value instanceof CustomObject) || value.className !== EMBEDDING_CLASS) {
    throw new PtliteError('INVALID_ARGUMENT', `expected packed parameters of class ${EMBEDDING_CLASS}`)
  }
  if (value.cache !== undefined) return value.cache as Table
  const items = value.state instanceof Tuple ? value.state.items : []
  const weight = Array.isArray(items[1]) ? items[1][0] : undefined
  const table = makeTable(weight ?? null)
  value.cache = table
  return table
}

function makeTable(weight: Value): Table {
  const t = weight as Tensor | null
  const quant = t?.quant ?? null
  if (t === null || quant === null || !isPerChannel(quant) || quant.axis !== 0 || t.dim !== 2 || !t.isContiguous) {
    throw new PtliteError('INVALID_FILE', `${EMBEDDING_CLASS}: expected a dense matrix quantized per row`)
  }
  const bits = t.type === DType.quint4x2 ? 4 : 8
  return { weight: t, quant, bits, width: t.shape[1]! }
}

/** float32 rows of the table: [indices, width]. Throws INVALID_ARGUMENT for an index outside it. */
function lookUpRows(table: Table, indices: Tensor): Tensor {
  const { weight, quant, bits, width } = table
  if (indices.type !== DType.int32 && indices.type !== DType.int64) {
    throw new PtliteError('INVALID_DTYPE', `expected int32 or int64 indices, found ${indices.dtype}`)
  }
  const numbers = Array.from(readTensor(indices) as ArrayLike<number | bigint>, Number)
  const rows = weight.shape[0]!
  const out = empty([numbers.length, width], DType.float32)
  const rowBytes = bits === 8 ? width : Math.ceil(width / 2)
  numbers.forEach((row, i) => {
    check(row >= 0 && row < rows, () => `index ${row} is outside a table of ${rows} rows`)
    const from = weight.address + row * rowBytes
    const to = out.address + i * width * 4
    const parameters = { n: width, zero_point: quant.zeroPoints[row]!, scale: quant.scales[row]!, in: from, out: to }
    if (bits === 8) kernels.dequantize({ ...parameters, dtype: weight.type })
    else kernels.dequantize_nibbles(parameters)
  })
  return out
}

/** The table says how many bits its values have: files of 4-bit embeddings call `embedding_byte` too. */
function embedding(packed: Value, indices: Tensor): Tensor {
  const table = tableOf(packed)
  const rows = lookUpRows(table, indices)
  const shape = [...indices.shape, table.width]
  return viewOf(rows, shape, contiguousStrides(shape))
}

export function embedding_byte(packed: Value, indices: Tensor, _pruned: boolean): Tensor {
  return embedding(packed, indices)
}

export function embedding_4bit(packed: Value, indices: Tensor, _pruned: boolean): Tensor {
  return embedding(packed, indices)
}

/** Sums of rows per bag. Offsets may come as int32; a matrix of indices has one bag a row. */
function sumBags(rows: Tensor, count: Tensor, offsets: Tensor | null, weights: Tensor | null, includeLast: boolean): Tensor {
  const n = rows.shape[0]!
  const every = empty([n], DType.int64)
  writeTensor(
    every,
    BigInt64Array.from({ length: n }, (_, i) => BigInt(i)),
  )
  let starts = offsets
  if (count.dim === 2) {
    check(offsets === null, () => 'a matrix of indices takes no offsets')
    starts = empty([count.shape[0]!], DType.int64)
    writeTensor(
      starts,
      BigInt64Array.from({ length: count.shape[0]! }, (_, i) => BigInt(i * count.shape[1]!)),
    )
  }
  if (starts === null) throw new PtliteError('INVALID_ARGUMENT', 'a vector of indices needs offsets')
  const flat = weights === null ? null : viewOf(contiguousOf(castTo(weights, DType.float32)), [weights.numel], [1])
  return embedding_bag(rows, every, castTo(starts, DType.int64), false, 0, false, flat, includeLast)[0]
}

function bag(
  packed: Value,
  indices: Tensor,
  offsets: Tensor | null,
  bits: number,
  mode: number,
  perSampleWeights: Tensor | null,
  mapping: Tensor | null,
  includeLast: boolean,
): Tensor {
  const table = tableOf(packed)
  check(table.bits === bits, () => `expected a table of ${bits} bits, found ${table.bits}`)
  check(mode === 0, () => 'only sums of rows are possible on quantized tables')
  check(mapping === null, () => 'compressed index mappings are not possible')
  return sumBags(lookUpRows(table, indices), indices, offsets, perSampleWeights, includeLast)
}

export function embedding_bag_byte(
  packed: Value,
  indices: Tensor,
  offsets: Tensor | null,
  _scaleGrad: boolean,
  mode: number,
  _pruned: boolean,
  perSampleWeights: Tensor | null,
  mapping: Tensor | null,
  includeLast: boolean,
): Tensor {
  return bag(packed, indices, offsets, 8, mode, perSampleWeights, mapping, includeLast)
}

export function embedding_bag_4bit(
  packed: Value,
  indices: Tensor,
  offsets: Tensor | null,
  _scaleGrad: boolean,
  mode: number,
  _pruned: boolean,
  perSampleWeights: Tensor | null,
  mapping: Tensor | null,
  includeLast: boolean,
): Tensor {
  return bag(packed, indices, offsets, 4, mode, perSampleWeights, mapping, includeLast)
}

/** Rows of uint8 [width + 8]: the integers, then scale and minimum as float32 (PyTorch's row-wise byte format). */
export function embedding_bag_byte_prepack(weight: Tensor): Tensor {
  check(weight.dim >= 1, () => 'embedding_bag_byte_prepack: expected at least one dimension')
  const width = weight.shape[weight.dim - 1]!
  const data = readTensor(dequantized(weight)) as Float32Array
  const rows = width === 0 ? 0 : data.length / width
  const bytes = new Uint8Array(rows * (width + 8))
  const view = new DataView(bytes.buffer)
  for (let r = 0; r < rows; r++) {
    const row = data.subarray(r * width, (r + 1) * width)
    const min = row.reduce((a, b) => Math.min(a, b), Infinity)
    const max = row.reduce((a, b) => Math.max(a, b), -Infinity)
    const range = Math.fround(max - min)
    const inverse = Math.fround(255 / Math.fround(range + 1e-8))
    const at = r * (width + 8)
    row.forEach((x, i) => (bytes[at + i] = roundHalfEven(Math.fround(Math.fround(x - min) * inverse))))
    view.setFloat32(at + width, range / 255, true)
    view.setFloat32(at + width + 4, min, true)
  }
  const out = empty([...weight.shape.slice(0, -1), width + 8], DType.uint8)
  writeTensor(out, bytes)
  return out
}

export function embedding_bag_byte_unpack(packed: Tensor): Tensor {
  const stride = packed.shape[packed.dim - 1] ?? 0
  check(
    packed.type === DType.uint8 && stride >= 8,
    () => `expected uint8 rows of at least 8 bytes, found ${packed.dtype}[${packed.shape.join(', ')}]`,
  )
  const width = stride - 8
  const bytes = readTensor(packed) as Uint8Array
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const rows = bytes.length / stride
  const data = new Float32Array(rows * width)
  for (let r = 0; r < rows; r++) {
    const scale = view.getFloat32(r * stride + width, true)
    const min = view.getFloat32(r * stride + width + 4, true)
    for (let i = 0; i < width; i++) data[r * width + i] = bytes[r * stride + i]! * scale + min
  }
  const out = empty([...packed.shape.slice(0, -1), width], DType.float32)
  writeTensor(out, data)
  return out
}
