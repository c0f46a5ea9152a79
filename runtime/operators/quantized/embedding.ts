import { check, PtliteError } from '../../error.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { contiguousStrides } from '../../tensor/shape.js'
import { empty, isPerChannel, type Tensor, viewOf } from '../../tensor/tensor.js'
import { CustomObject, Tuple, type Value } from '../../tensor/value.js'
import { packRows, type Search } from './support/embedding-pack.js'
import {
  type EmbeddingTable,
  EMBEDDING_CLASS,
  pickRows,
  sumRows,
  type TableBits,
  tableOf,
  tableOfRows,
  weightOf,
} from './support/embedding-table.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'

/** State: version, [weight], [], [bits]; as PyTorch writes it. */
export function embedding_bag_prepack(weight: Tensor): CustomObject {
  const { quant } = weight
  check(weight.dim === 2 && quant !== null && isPerChannel(quant) && quant.axis === 0, () => {
    return `embedding_bag_prepack: expected a matrix quantized per row, found ${weight.dtype}[${weight.shape.join(', ')}]`
  })
  check(weight.type !== DType.qint32, () => 'embedding_bag_prepack: expected quint8, qint8 or quint4x2, found qint32')
  return new CustomObject(EMBEDDING_CLASS, new Tuple([1, [weight], [], [weight.type === DType.quint4x2 ? 4 : 8]]))
}

export function embedding_bag_unpack(packed: Value): Tensor {
  return weightOf(packed)
}

/** The table says how many bits its values have: files of 4-bit embeddings call `embedding_byte` too. */
function embedding(packed: Value, indices: Tensor): Tensor {
  const table = tableOf(packed)
  const rows = pickRows(table, indices)
  const shape = [...indices.shape, table.width]
  return viewOf(rows, shape, contiguousStrides(shape))
}

export function embedding_byte(packed: Value, indices: Tensor, _pruned: boolean): Tensor {
  return embedding(packed, indices)
}

export function embedding_4bit(packed: Value, indices: Tensor, _pruned: boolean): Tensor {
  return embedding(packed, indices)
}

/** What pruning left of a table: a row for each index. One element of 0 says that nothing was pruned. */
function mappingOf(pruned: boolean, mapping: Tensor | null): Tensor | null {
  if (!pruned) return null
  if (mapping === null) throw new PtliteError('INVALID_ARGUMENT', 'a pruned table needs compressed_indices_mapping')
  if (mapping.numel === 1 && Number(readTensor(mapping)[0]) === 0) return null
  check(mapping.type === DType.int32, () => `expected an int32 compressed_indices_mapping, found ${mapping.dtype}`)
  return mapping
}

/** What follows the table. */
type BagArguments = Parameters<QuantizedCPU['embedding_bag_byte']> extends [unknown, ...infer Rest] ? Rest : never

/** Sums of rows per bag; like PyTorch's, whatever `mode` says. */
function bag(table: EmbeddingTable, ...[indices, offsets, , , pruned, perSampleWeights, mapping, includeLast]: BagArguments): Tensor {
  return sumRows(table, indices, { offsets, perSampleWeights, mapping: mappingOf(pruned, mapping), includeLast })
}

function packedBag(bits: TableBits): QuantizedCPU['embedding_bag_byte'] {
  return (packed, ...rest) => {
    const table = tableOf(packed)
    check(table.bits === bits, () => `expected a table of ${bits} bits, found ${table.bits}`)
    return bag(table, ...rest)
  }
}

export const embedding_bag_byte = packedBag(8)
export const embedding_bag_4bit = packedBag(4)

/** Tables given as rows of bytes, each with its scale and bias at its end. */
function rowwise(bits: TableBits): QuantizedCPU['embedding_bag_byte_rowwise_offsets'] {
  const what = `embedding_bag_${bits === 8 ? 'byte' : `${bits}bit`}_rowwise_offsets`
  return (rows, ...rest) => bag(tableOfRows(rows, bits, what), ...rest)
}

export const embedding_bag_byte_rowwise_offsets = rowwise(8)
export const embedding_bag_4bit_rowwise_offsets = rowwise(4)
export const embedding_bag_2bit_rowwise_offsets = rowwise(2)

/** Rows of uint8 [width + 8]: the integers, then scale and minimum as float32. */
export function embedding_bag_byte_prepack(weight: Tensor): Tensor {
  return packRows(weight, 8, null, 'embedding_bag_byte_prepack')
}

/** With a minimum and a maximum of each row, [rows, 2] of the weight's dtype, in place of those that its elements have. */
export function embedding_bag_byte_prepack_with_rowwise_min_max(weight: Tensor, rowwiseMinMax: Tensor): Tensor {
  return packRows(weight, 8, null, 'embedding_bag_byte_prepack_with_rowwise_min_max', rowwiseMinMax)
}

function searchOf(operator: string, optimized: boolean, bins: number, ratio: number): Search | null {
  check(bins >= 1 && bins <= 1_000_000, () => `${operator}: expected at least one bin, found ${bins}`)
  return optimized ? { bins, ratio } : null
}

/** Rows of packed integers, then scale and minimum as float16; `optimized` searches narrower bounds with less error. */
function prepack(bits: TableBits): QuantizedCPU['embedding_bag_4bit_prepack'] {
  const operator = `embedding_bag_${bits}bit_prepack`
  return (weight, optimized, bins, ratio) => packRows(weight, bits, searchOf(operator, optimized, bins, ratio), operator)
}

function prepackWithin(bits: TableBits): QuantizedCPU['embedding_bag_4bit_prepack_with_rowwise_min_max'] {
  const operator = `embedding_bag_${bits}bit_prepack_with_rowwise_min_max`
  return (weight, ranges, optimized, bins, ratio) => packRows(weight, bits, searchOf(operator, optimized, bins, ratio), operator, ranges)
}

export const embedding_bag_4bit_prepack = prepack(4)
export const embedding_bag_2bit_prepack = prepack(2)
export const embedding_bag_4bit_prepack_with_rowwise_min_max = prepackWithin(4)
export const embedding_bag_2bit_prepack_with_rowwise_min_max = prepackWithin(2)

function unpack(bits: TableBits): (packed: Tensor) => Tensor {
  const what = `embedding_bag_${bits === 8 ? 'byte' : `${bits}bit`}_unpack`
  return (packed) => {
    const table = tableOfRows(packed, bits, what)
    const shape = [...packed.shape.slice(0, -1), table.width]
    const every = empty([shape.slice(0, -1).reduce((a, b) => a * b, 1)], DType.int32)
    writeTensor(
      every,
      Int32Array.from({ length: every.numel }, (_, i) => i),
    )
    return viewOf(pickRows(table, every), shape, contiguousStrides(shape))
  }
}

export const embedding_bag_byte_unpack = unpack(8)
export const embedding_bag_4bit_unpack = unpack(4)
export const embedding_bag_2bit_unpack = unpack(2)
