import * as features from '../features.js'
import { elementValue, readTensor } from './data.js'
import { holdsComplex, isFloating } from './dtype.js'
import { fixed, scientific } from './number-text.js'
import { isPerChannel } from './quant.js'
import { numelOf } from './shape.js'
import { Tensor } from './tensor.js'

/*
 * Tensors as PyTorch prints them (torch/_tensor_str.py): nested rows in columns of one width, four digits behind the point, large ones without their
 * middle. Only what is shown is read.
 */

/** Elements that are printed whole. */
const THRESHOLD = 1000
/** Of a dimension without its middle, how many are shown on either side. */
const EDGE = 3
/** Characters of a line. */
const LINE = 80
/** Digits behind the point. */
const PRECISION = 4
/** Rows beyond which only dtype and shape are printed: of many short dimensions nothing can be left out. */
const MAX_ROWS = 1000
const PREFIX = 'tensor('

/** What a row shows; null is where its middle is left out. */
type Shown = readonly (string | null)[]

/** A tensor as text: its elements, dtype, and its shape where that cannot be seen. */
export function tensorAsPrinted(t: Tensor): string {
  const heading = `Tensor ${t.dtype}[${t.shape.join(', ')}]`
  const { live, byteLength } = t.storage
  if (t.isReleased || (!live && byteLength > 0)) return `${heading} (disposed)`
  if (!live) return `${heading} (sparse)`
  if (!features.advice) return heading
  const isWhole = numelOf(t.shape) <= THRESHOLD
  const rows = new RowReader(t, isWhole ? Infinity : EDGE)
  if (rows.count > MAX_ROWS) return heading
  const body = numelOf(t.shape) === 0 ? '[]' : bodyOf(t.shape, rows, isFloating(t.type) || t.isQuantized)
  const isSeen = isWhole && numelOf(t.shape) > 0
  const details = [...(isSeen ? [] : [`size=[${t.shape.join(', ')}]`]), `dtype=${t.dtype}`, ...quantDetails(t)].join(', ')
  const lastLine = body.length - (body.lastIndexOf('\n') + 1)
  return `${PREFIX}${body},${lastLine + details.length + 2 > LINE ? `\n${' '.repeat(PREFIX.length)}` : ' '}${details})`
}

/** The positions of a dimension that are shown, `edge` of them on either side where there are more; null stands for those in the middle. */
export function shownPositions(size: number, edge: number): (number | null)[] {
  if (size <= 2 * edge) return Array.from({ length: size }, (_, i) => i)
  const ends = Array.from({ length: edge }, (_, i) => i)
  return [...ends, null, ...ends.map((i) => size - edge + i)]
}

/** Reads the rows of a tensor that are shown, in order. */
class RowReader {
  /** How many there are. */
  readonly count: number

  constructor(
    private readonly t: Tensor,
    readonly edge: number,
  ) {
    this.count = t.shape.slice(0, -1).reduce((rows, size) => rows * Math.min(size, 2 * edge), 1)
  }

  /** The elements of a row that are shown; of a tensor without dimensions its one element. */
  read(indices: readonly number[]): unknown[] {
    const { shape, strides, offset } = this.t
    const start = indices.reduce((at, index, dim) => at + index * strides[dim]!, offset)
    const size = shape.at(-1) ?? 1
    if (size <= 2 * this.edge) return this.elements(indices, start, 0, size)
    return [...this.elements(indices, start, 0, this.edge), null, ...this.elements(indices, start, size - this.edge, this.edge)]
  }

  private elements(indices: readonly number[], start: number, first: number, size: number): unknown[] {
    const { storage, strides, type } = this.t
    const step = strides.at(-1) ?? 1
    const row = new Tensor(storage, start + first * step, [size], [step], type)
    try {
      const raw = Array.from<number | bigint>(readTensor(row))
      if (holdsComplex(this.t)) return Array.from({ length: size }, (_, i) => [Number(raw[2 * i]), Number(raw[2 * i + 1])])
      return raw.map((x, i) => this.valueOf(elementValue(x, type), [...indices, first + i]))
    } finally {
      row.release()
    }
  }

  /** Of quantized tensors the number that an integer stands for. */
  private valueOf(value: number | bigint | boolean, indices: readonly number[]): number | bigint | boolean {
    const { quant } = this.t
    if (quant === null) return value
    const channel = isPerChannel(quant) ? indices[quant.axis]! : 0
    const [scale, zeroPoint] = isPerChannel(quant) ? [quant.scales[channel]!, quant.zeroPoints[channel]!] : [quant.scale, quant.zeroPoint]
    return Math.fround((Number(value) - zeroPoint) * scale)
  }
}

function bodyOf(shape: readonly number[], rows: RowReader, isReal: boolean): string {
  const found: unknown[][] = []
  visitRows(shape, rows.edge, (indices) => found.push(rows.read(indices)))
  const texts = textsOf(found, isReal)
  if (shape.length === 0) return texts[0]![0]!
  let next = 0
  const nested = (dim: number): string => {
    const indent = PREFIX.length + dim + 1
    if (dim === shape.length - 1) return `[${lines(texts[next++]!, indent)}]`
    const parts = shownPositions(shape[dim]!, rows.edge).map((index) => (index === null ? '...' : nested(dim + 1)))
    return `[${parts.join(`,${'\n'.repeat(shape.length - 1 - dim)}${' '.repeat(indent)}`)}]`
  }
  return nested(0)
}

function visitRows(
  shape: readonly number[],
  edge: number,
  visit: (indices: readonly number[]) => void,
  indices: readonly number[] = [],
): void {
  if (indices.length >= shape.length - 1) return visit(indices)
  for (const index of shownPositions(shape[indices.length]!, edge)) if (index !== null) visitRows(shape, edge, visit, [...indices, index])
}

/** A row in lines, which begin below its first element. */
function lines(row: Shown, indent: number): string {
  const width = Math.max(...row.map((text) => text?.length ?? 0)) + 2
  const perLine = Math.max(1, Math.floor((LINE - indent + 1) / width))
  const texts = row.map((text) => text ?? ' ...')
  const groups = Array.from({ length: Math.ceil(texts.length / perLine) }, (_, i) => texts.slice(i * perLine, (i + 1) * perLine).join(', '))
  return groups.join(`,\n${' '.repeat(indent)}`)
}

/** The texts of all elements, of one width; `isReal` for numbers that may have fractions. */
function textsOf(rows: readonly (readonly unknown[])[], isReal: boolean): (string | null)[][] {
  const values = rows.flat().filter((value) => value !== null)
  const isComplex = values.some((value) => Array.isArray(value))
  const parts = isComplex ? (values as [number, number][]) : []
  const [re, im] = [0, 1].map((part) => numberFormat(parts.map((pair) => pair[part]!)))
  const number = isReal && !isComplex ? numberFormat(values as number[]) : String
  const textOf = (value: unknown): string => {
    if (typeof value === 'boolean') return value ? 'true' : 'false'
    if (!Array.isArray(value)) return number(value as number)
    const [real, imaginary] = value as [number, number]
    return `${re!(real)}${imaginary < 0 || Object.is(imaginary, -0) ? '' : '+'}${im!(imaginary)}j`
  }
  const texts = rows.map((row) => row.map((value) => (value === null ? null : textOf(value))))
  const width = Math.max(...texts.flat().map((text) => text?.length ?? 0))
  return texts.map((row) => row.map((text) => text?.padStart(width) ?? null))
}

/** How floating-point numbers are written, which the largest and the least of those that are shown decide. */
function numberFormat(values: readonly number[]): (x: number) => string {
  const sizes = values.filter((x) => Number.isFinite(x) && x !== 0).map(Math.abs)
  const most = sizes.reduce((a, b) => Math.max(a, b), 0)
  const least = sizes.reduce((a, b) => Math.min(a, b), Infinity)
  const areWhole = sizes.every(Number.isInteger)
  if (sizes.length > 0 && (most / least > 1000 || most > 1e8 || (!areWhole && least < 1e-4))) return (x) => scientific(x, PRECISION)
  if (areWhole) return (x) => (Number.isFinite(x) ? `${fixed(x, 0)}.` : fixed(x, 0))
  return (x) => fixed(x, PRECISION)
}

function quantDetails({ quant }: Tensor): string[] {
  if (quant === null) return []
  if (!isPerChannel(quant)) return [`scale=${quant.scale}`, `zeroPoint=${quant.zeroPoint}`]
  return [`scales=[${quant.scales.length}]`, `axis=${quant.axis}`]
}
