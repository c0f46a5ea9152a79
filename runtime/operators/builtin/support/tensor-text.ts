import { pace } from '../../../pace.js'
import { elementScalar, readTensor } from '../../../tensor/data.js'
import { DType } from '../../../tensor/dtype.js'
import { contiguousStrides, numelOf } from '../../../tensor/shape.js'
import { isPerChannel, type Quant, type Tensor } from '../../../tensor/tensor.js'
import { fixed, general, scientific } from '../../../tensor/number-text.js'
import { newLength } from './sequence.js'

/* Tensors as C++ streams print them: columns of equal width in lines of 80 characters, then the type and the sizes. */

const LINE = 80

const TYPE_NAMES: Readonly<Record<DType, string>> = {
  [DType.uint8]: 'Byte',
  [DType.int8]: 'Char',
  [DType.int16]: 'Short',
  [DType.int32]: 'Int',
  [DType.int64]: 'Long',
  [DType.float16]: 'Half',
  [DType.float32]: 'Float',
  [DType.float64]: 'Double',
  [DType.complex64]: 'ComplexFloat',
  [DType.complex128]: 'ComplexDouble',
  [DType.bool]: 'Bool',
  [DType.qint8]: 'QInt8',
  [DType.quint8]: 'QUInt8',
  [DType.qint32]: 'QInt32',
  [DType.bfloat16]: 'BFloat16',
  [DType.quint4x2]: 'QUInt4x2',
  [DType.float8_e5m2]: 'Float8_e5m2',
  [DType.float8_e4m3fn]: 'Float8_e4m3fn',
  [DType.float8_e5m2fnuz]: 'Float8_e5m2fnuz',
  [DType.float8_e4m3fnuz]: 'Float8_e4m3fnuz',
  [DType.uint16]: 'UInt16',
  [DType.uint32]: 'UInt32',
  [DType.uint64]: 'UInt64',
}

interface Format {
  readonly width: number
  /** Elements are divided by it. */
  readonly scale: number
  readonly text: (x: number) => string
}

/** Characters of an element at most, with what separates it from the next. */
const ELEMENT = 16

/** Throws OUT_OF_MEMORY where the text would be longer than strings may be. */
export function tensorText(tensor: Tensor): string {
  newLength(ELEMENT * numelOf(tensor.shape))
  const data = realValues(tensor)
  const { shape } = tensor
  const footer = footerText(tensor)
  if (shape.length === 0) return `${general(data[0]!, 6)}\n${footer}`
  if (data.length === 0) return footer
  if (shape.length === 1) {
    const format = chooseFormat(data)
    return `${scaleLine(format)}${data.map((x) => `${element(x, format)}\n`).join('')}${footer}`
  }
  return `${matrices(data, shape)}${footer}`
}

function footerText({ type, shape, quant }: Tensor): string {
  return `[ ${quant === null ? 'CPU' : 'QuantizedCPU'}${TYPE_NAMES[type]}Type{${shape.join(',')}}${quantText(quant)} ]`
}

function realValues(tensor: Tensor): number[] {
  const { quant } = tensor
  const raw = Array.from<number | bigint>(readTensor(tensor))
  if (quant === null || !isPerChannel(quant)) return raw.map((x) => Number(elementScalar(x, tensor)))
  const inner = numelOf(tensor.shape.slice(quant.axis + 1))
  return raw.map((x, i) => {
    const channel = Math.floor(i / inner) % quant.scales.length
    return Math.fround((Number(x) - quant.zeroPoints[channel]!) * quant.scales[channel]!)
  })
}

function quantText(quant: Quant | null): string {
  if (quant === null) return ''
  if (isPerChannel(quant)) return ', qscheme: per_channel_affine'
  return `, qscheme: per_tensor_affine, scale: ${general(quant.scale, 6)}, zero_point: ${quant.zeroPoint}`
}

const magnitude = (x: number): number => (x === 0 ? 1 : Math.floor(Math.log10(x)) + 1)

/** The form in which the elements of a part line up. As in PyTorch, negative elements do not count for the greatest size, but for the first one. */
function chooseFormat(data: readonly number[]): Format {
  const finite = data.filter(Number.isFinite)
  const integral = finite.every(Number.isInteger)
  const first = Math.abs(finite[0] ?? 1)
  const low = magnitude(finite.reduce((least, x) => Math.min(least, Math.abs(x)), first))
  const high = magnitude(finite.reduce((most, x) => Math.max(most, x), first))
  const inScience = (width: number): Format => ({ width, scale: 1, text: (x) => scientific(x, 4) })
  if (integral) return high > 9 ? inScience(11) : { width: high + 1, scale: 1, text: (x) => general(x, 6) }
  if (high - low > 4) return inScience(Math.abs(high) > 99 || Math.abs(low) > 99 ? 12 : 11)
  if (high > 5 || high < 0) return { width: 7, scale: 10 ** (high - 1), text: (x) => fixed(x, 4) }
  return { width: high === 0 ? 7 : high + 6, scale: 1, text: (x) => fixed(x, 4) }
}

function scaleLine(format: Format): string {
  return format.scale === 1 ? '' : `${general(format.scale, 4)} *\n`
}

function element(x: number, { width, scale, text }: Format): string {
  pace(ELEMENT)
  return text(x / scale).padStart(width)
}

/** Matrices of the last two dimensions, the first dimension running fastest, each with a heading where there are more dimensions. */
function matrices(data: readonly number[], shape: readonly number[]): string {
  const [rows, columns] = shape.slice(-2) as [number, number]
  const outer = shape.slice(0, -2)
  if (outer.length === 0) return matrix(data, rows, columns, '')
  const steps = contiguousStrides(shape).slice(0, -2)
  const parts = Array.from({ length: numelOf(outer) }, (_, i) => {
    let rest = i
    let at = 0
    const index = outer.map((size, d) => {
      const k = rest % size
      rest = Math.floor(rest / size)
      at += k * steps[d]!
      return k + 1
    })
    return `(${index.join(',')},.,.) = \n${matrix(data.slice(at, at + rows * columns), rows, columns, ' ')}`
  })
  return parts.join('\n')
}

/** As PyTorch lays it out, oddities included: nothing stands between the heading of some columns and their first row. */
function matrix(data: readonly number[], rows: number, columns: number, indent: string): string {
  const format = chooseFormat(data)
  const perLine = Math.max(1, Math.floor((LINE - indent.length) / (format.width + 1)))
  const rowIndent = format.scale === 1 ? indent : `${indent} `
  let out = indent
  for (let first = 0; first < columns; first += perLine) {
    const end = Math.min(first + perLine, columns)
    if (perLine < columns) out += `${first > 0 ? '\n' : ''}Columns ${first + 1} to ${end}${indent}`
    if (format.scale !== 1) out += scaleLine(format) + indent
    const lines = Array.from({ length: rows }, (_, row) => {
      const cells = data.slice(row * columns + first, row * columns + end)
      return `${cells.map((x) => element(x, format)).join(' ')}\n`
    })
    out += lines.join(rowIndent)
  }
  return out
}
