import { check, PtliteError } from '../../../error.js'
import { readTensor, writeTensor } from '../../../tensor/data.js'
import { DType } from '../../../tensor/dtype.js'
import { numelOf, sameShape, shapeText } from '../../../tensor/shape.js'
import { roundHalfEven } from '../../../tensor/half.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'
import { castTo } from '../../support/copy.js'
import { bestRange, half, type Range, rangeOf } from '../../cpu/support/range-search.js'
import { type TableBits, trailerOf, writeTrailer } from './embedding-table.js'

/** Quantization of float tables row by row, and back (PyTorch's embedding_bag_*_prepack and unpack). */

function floatRows(weight: Tensor, what: string): Float32Array {
  if (weight.type !== DType.float32 && weight.type !== DType.float16) {
    throw new PtliteError('INVALID_DTYPE', `${what}: expected float32 or float16, found ${weight.dtype}`)
  }
  return readTensor(castTo(weight, DType.float32)) as Float32Array
}

export interface Search {
  readonly bins: number
  readonly ratio: number
}

/** Scale, bias and factor of a row, whose elements lie between the bounds `whole`. */
function parametersOf(
  row: Float32Array,
  bits: TableBits,
  search: Search | null,
  whole: Range,
): { scale: number; bias: number; inverse: number } {
  const levels = 2 ** bits - 1
  if (bits === 8) {
    const range = Math.fround(whole[1] - whole[0])
    return { scale: range / 255, bias: whole[0], inverse: Math.fround(255 / Math.fround(range + 1e-8)) }
  }
  const [min, max] = search === null ? whole : bestRange(row, whole, search.bins, search.ratio, levels)
  const bias = half(min)
  const range = Math.fround(max - bias)
  const scale = range === 0 ? 1 : half(range / levels)
  const inverse = Math.fround(1 / scale)
  return scale === 0 || !Number.isFinite(inverse) ? { scale: 1, bias, inverse: 1 } : { scale, bias, inverse }
}

/** The bounds that are given for each row of a matrix, [rows, 2] of its dtype. */
function givenRanges(ranges: Tensor, weight: Tensor, what: string): Range[] {
  const isFitting = weight.dim === 2 && ranges.type === weight.type && sameShape(ranges.shape, [weight.shape[0]!, 2])
  check(isFitting, () => {
    const [found, given] = [weight, ranges].map((t) => `${t.dtype}${shapeText(t.shape)}`)
    return `${what}: expected a matrix and a minimum and maximum of each row in its dtype, found ${found} and ${given}`
  })
  const bounds = floatRows(ranges, what)
  return Array.from({ length: bounds.length / 2 }, (_, r) => [bounds[2 * r]!, bounds[2 * r + 1]!])
}

/** Rows of packed integers with their parameters; `ranges` are minima and maxima in place of those of the rows. */
export function packRows(weight: Tensor, bits: TableBits, search: Search | null, what: string, ranges: Tensor | null = null): Tensor {
  const width = weight.shape[weight.dim - 1] ?? 0
  const perByte = 8 / bits
  check(weight.dim >= 2 && width % perByte === 0, () => {
    return `${what}: expected rows of a multiple of ${perByte} values, found shape [${weight.shape.join(', ')}]`
  })
  check(
    width > 0 || weight.numel === numelOf(weight.shape.slice(0, -1)),
    () => `${what}: expected rows of at least one value, found shape ${shapeText(weight.shape)}`,
  )
  const data = floatRows(weight, what)
  const rows = width === 0 ? 0 : data.length / width
  const body = width / perByte
  const levels = 2 ** bits - 1
  const given = ranges === null ? null : givenRanges(ranges, weight, what)
  const bytes = new Uint8Array(rows * (body + trailerOf(bits)))
  const view = new DataView(bytes.buffer)
  for (let r = 0; r < rows; r++) {
    const row = data.subarray(r * width, (r + 1) * width)
    // a search starts from the elements in any case
    const whole = given === null || search !== null ? rangeOf(row) : given[r]!
    const { scale, bias, inverse } = parametersOf(row, bits, search, whole)
    const at = r * (body + trailerOf(bits))
    row.forEach((x, i) => {
      const q = roundHalfEven(Math.fround(Math.fround(x - bias) * inverse))
      // beyond given bounds, bytes wrap around and the others stay at the bound
      const kept = bits === 8 ? q % 256 : Math.max(0, Math.min(levels, q))
      bytes[at + Math.floor(i / perByte)]! |= kept << ((i % perByte) * bits)
    })
    writeTrailer(view, at + body, bits, scale, bias)
  }
  const out = empty([...weight.shape.slice(0, -1), body + trailerOf(bits)], DType.uint8)
  writeTensor(out, bytes)
  return out
}
