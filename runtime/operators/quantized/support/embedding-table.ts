import { check, PtliteError } from '../../../error.js'
import * as kernels from '../../../native/generated/kernels.js'
import { readTensor, writeTensor } from '../../../tensor/data.js'
import { DType } from '../../../tensor/dtype.js'
import { noteRead } from '../../../tensor/observe.js'
import { numberToHalf } from '../../../tensor/half.js'
import { empty, isPerChannel, type Tensor } from '../../../tensor/tensor.js'
import { cacheOf, CustomObject, setCache, Tuple, type Value } from '../../../tensor/value.js'
import { castTo, contiguousOf } from '../../support/copy.js'

/** Embedding tables as rows of integers that end in their scale and bias: float32 after 8-bit integers, float16 after smaller ones. */

export const EMBEDDING_CLASS = 'quantized.EmbeddingPackedParamsBase'

export type TableBits = 8 | 4 | 2

export interface EmbeddingTable {
  /** uint8 [rows, bytes of a row]. */
  readonly rows: Tensor
  readonly bits: TableBits
  /** Values per row. */
  readonly width: number
}

/** Bytes that hold scale and bias. */
export function trailerOf(bits: TableBits): number {
  return bits === 8 ? 8 : 4
}

/** Writes scale and bias at `at`. */
export function writeTrailer(view: DataView, at: number, bits: TableBits, scale: number, bias: number): void {
  if (bits === 8) {
    view.setFloat32(at, scale, true)
    view.setFloat32(at + 4, bias, true)
  } else {
    view.setUint16(at, numberToHalf(scale), true)
    view.setUint16(at + 2, numberToHalf(bias), true)
  }
}

/** A tensor of such rows, [..., bytes], as a table. Throws INVALID_ARGUMENT where it cannot be one. */
export function tableOfRows(rows: Tensor, bits: TableBits, what: string): EmbeddingTable {
  const bytes = rows.shape[rows.dim - 1] ?? 0
  check(
    rows.type === DType.uint8 && rows.dim >= 2 && bytes >= trailerOf(bits),
    () => `${what}: expected uint8 rows of at least ${trailerOf(bits)} bytes, found ${rows.dtype}[${rows.shape.join(', ')}]`,
  )
  return { rows, bits, width: ((bytes - trailerOf(bits)) * 8) / bits }
}

/** The table of packed parameters, whose state is version, [weight], [], [bits]. */
export function tableOf(value: Value): EmbeddingTable {
  if (!(value instanceof CustomObject) || value.className !== EMBEDDING_CLASS) {
    throw new PtliteError('INVALID_ARGUMENT', `expected packed parameters of class ${EMBEDDING_CLASS}`)
  }
  const known = cacheOf(value)
  if (known !== undefined) return known as EmbeddingTable
  const table = fuse(weightOf(value))
  setCache(value, table)
  return table
}

export function weightOf(value: Value): Tensor {
  const items = value instanceof CustomObject && value.state instanceof Tuple ? value.state.items : []
  const weight = (Array.isArray(items[1]) ? items[1][0] : null) as Tensor | null
  const quant = weight?.quant ?? null
  if (weight === null || quant === null || !isPerChannel(quant) || quant.axis !== 0 || weight.dim !== 2 || !weight.isContiguous) {
    throw new PtliteError('INVALID_FILE', `${EMBEDDING_CLASS}: expected a dense matrix quantized per row`)
  }
  return weight
}

function fuse(weight: Tensor): EmbeddingTable {
  const { quant } = weight
  const [rows, width] = weight.shape as [number, number]
  const bits: TableBits = weight.type === DType.quint4x2 ? 4 : 8
  if (quant === null || !isPerChannel(quant)) throw new PtliteError('INVALID_FILE', `${EMBEDDING_CLASS}: expected scales per row`)
  const { scales, zeroPoints } = quant
  check(bits === 8 || width % 2 === 0, () => `${EMBEDDING_CLASS}: expected 4-bit rows of an even number of elements, found ${width}`)
  const body = (width * bits) / 8
  const source = empty([rows * body], DType.uint8)
  if (rows * body > 0) kernels.mem_copy({ to: source.address, from: weight.address, bytes: rows * body })
  const integers = readTensor(source) as Uint8Array
  const bytes = new Uint8Array(rows * (body + trailerOf(bits)))
  const view = new DataView(bytes.buffer)
  for (let r = 0; r < rows; r++) {
    const at = r * (body + trailerOf(bits))
    bytes.set(integers.subarray(r * body, (r + 1) * body), at)
    writeTrailer(view, at + body, bits, scales[r]!, -zeroPoints[r]! * scales[r]!)
  }
  const fused = empty([rows, body + trailerOf(bits)], DType.uint8)
  writeTensor(fused, bytes)
  fused.pinned = true
  fused.storage.watch()
  return { rows: fused, bits, width }
}

export interface BagOptions {
  readonly offsets: Tensor | null
  readonly perSampleWeights: Tensor | null
  /** int32: the row of each index, -1 for a row that was pruned. */
  readonly mapping: Tensor | null
  readonly includeLast: boolean
}

function isInteger(t: Tensor): boolean {
  return t.type === DType.int32 || t.type === DType.int64
}

/** float32 sums of rows, one for each bag. A matrix of indices has a bag per row and takes no offsets. */
export function sumRows(table: EmbeddingTable, indices: Tensor, o: BagOptions): Tensor {
  if (!isInteger(indices)) throw new PtliteError('INVALID_DTYPE', `expected int32 or int64 indices, found ${indices.dtype}`)
  const { offsets } = o
  check(indices.dim === 1 || indices.dim === 2, () => `expected indices of one or two dimensions, found ${indices.dim}`)
  if (indices.dim === 2) check(offsets === null, () => 'a matrix of indices takes no offsets')
  else if (offsets === null || offsets.dim !== 1 || !isInteger(offsets)) {
    throw new PtliteError('INVALID_ARGUMENT', 'a vector of indices needs offsets: a vector of int32 or int64')
  }
  check(
    o.perSampleWeights === null || o.perSampleWeights.numel === indices.numel,
    () => `expected a weight for each of ${indices.numel} indices, found ${o.perSampleWeights!.numel}`,
  )
  const offsetCount = offsets === null ? 0 : offsets.numel
  check(!o.includeLast || offsetCount > 0, () => 'offsets that include the last must have at least one element')
  const bags = offsets === null ? indices.shape[0]! : offsetCount - Number(o.includeLast)
  return launch(table, indices, bags, offsets === null ? (indices.shape[1] ?? 0) : 0, o)
}

/** Each index a bag of its own: [..., width]. */
export function pickRows(table: EmbeddingTable, indices: Tensor): Tensor {
  if (!isInteger(indices)) throw new PtliteError('INVALID_DTYPE', `expected int32 or int64 indices, found ${indices.dtype}`)
  return launch(table, indices, indices.numel, 1, { offsets: null, perSampleWeights: null, mapping: null, includeLast: false })
}

function launch(table: EmbeddingTable, indices: Tensor, bags: number, bagSize: number, o: BagOptions): Tensor {
  const out = empty([bags, table.width], DType.float32)
  if (out.numel === 0) return out
  const rows = contiguousOf(table.rows)
  const list = contiguousOf(indices)
  const offsets = o.offsets === null ? null : contiguousOf(o.offsets)
  const weights = o.perSampleWeights === null ? null : contiguousOf(castTo(o.perSampleWeights, DType.float32))
  const mapping = o.mapping === null ? null : contiguousOf(castTo(o.mapping, DType.int32))
  const rowBytes = rows.shape[rows.dim - 1]!
  noteRead(indices)
  const culprit = kernels.embedding_rows({
    bits: table.bits,
    wide_indices: list.type === DType.int64 ? 1 : 0,
    wide_offsets: offsets?.type === DType.int64 ? 1 : 0,
    table: rows.address,
    rows: rows.numel / rowBytes,
    width: table.width,
    row_bytes: rowBytes,
    indices: list.address,
    count: list.numel,
    offsets: offsets?.address ?? 0,
    offset_count: offsets?.numel ?? 0,
    bags,
    bag_size: bagSize,
    weights: weights?.address ?? 0,
    mapping: mapping?.address ?? 0,
    mapping_size: mapping?.numel ?? 0,
    out: out.address,
  })
  if (culprit >= 0)
    throw new PtliteError('INVALID_ARGUMENT', `index number ${culprit} is outside the table of ${rows.numel / rowBytes} rows`)
  if (culprit < -1)
    throw new PtliteError('INVALID_ARGUMENT', `the offset of bag ${-2 - culprit} is not between the one before and the number of indices`)
  return out
}
