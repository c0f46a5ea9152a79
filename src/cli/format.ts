import type { FunctionArgument } from '../../program/code.js'
import { constantText } from '../../program/disassemble.js'
import { bfloat16ToNumber, halfToNumber } from '../../runtime/tensor/half.js'
import { shownPositions } from '../../runtime/tensor/printed.js'
import { contiguousStrides } from '../../runtime/tensor/shape.js'
import { ScriptObject } from '../../runtime/tensor/value.js'
import { Complex, type Output, Tensor } from '../index.js'

/** Tensors with more elements show only the first and last EDGE of each dimension. */
const THRESHOLD = 1000
const EDGE = 3
const LINE = 100

/** A result as text, in the manner of NumPy: `float32[2, 3]` and the elements below it. */
export function formatValue(value: Output, indent = ''): string {
  if (value === null) return 'None'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof Complex) return String(value)
  if (value instanceof Tensor) return formatTensor(value, indent)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    if (value.every((item) => typeof item !== 'object' || item === null)) return `[${value.map((item) => formatValue(item)).join(', ')}]`
    return `[\n${value.map((item) => `${inner}${formatValue(item, inner)},\n`).join('')}${indent}]`
  }
  if (value instanceof Map) {
    if (value.size === 0) return '{}'
    const entries = [...value].map(([key, item]) => `${inner}${formatValue(key)}: ${formatValue(item, inner)},\n`)
    return `{\n${entries.join('')}${indent}}`
  }
  return `<${value instanceof ScriptObject ? value.typeName : value.className}>`
}

/** `float32[1, 10]`, with the scale of quantized tensors. */
export function describeTensor(t: Tensor): string {
  const quant =
    t.quant === null
      ? ''
      : 'scale' in t.quant
        ? ` (scale ${t.quant.scale}, zero point ${t.quant.zeroPoint})`
        : ` (per channel, axis ${t.quant.axis})`
  return `${t.dtype}[${t.shape.join(', ')}]${quant}`
}

export function formatTensor(t: Tensor, indent = ''): string {
  const head = describeTensor(t)
  const data = t.data()
  if (data.length === 0) return head
  const number = elementReader(t)
  const positions = t.shape.map((size) => shownPositions(size, data.length > THRESHOLD ? EDGE : Infinity))
  const shown: (number | bigint | boolean)[] = []
  const strides = contiguousStrides(t.shape)
  const parts = t.dtype.startsWith('complex') ? 2 : 1
  const collect = (dim: number, at: number): void => {
    if (dim === t.shape.length) for (let i = 0; i < parts; i++) shown.push(number(data[parts * at + i]!))
    else for (const p of positions[dim]!) if (p !== null) collect(dim + 1, at + p * strides[dim]!)
  }
  collect(0, 0)
  const texts = parts === 2 ? joinedPairs(alignedTexts(shown)) : alignedTexts(shown)
  if (t.shape.length === 0) return `${head} ${texts[0]!.trim()}`
  let next = 0
  const body = (dim: number, margin: string): string => {
    const cells = positions[dim]!
    if (dim === t.shape.length - 1)
      return wrap(
        cells.map((p) => (p === null ? '...' : texts[next++]!)),
        margin,
      )
    const gap = `,${'\n'.repeat(t.shape.length - 1 - dim)}${margin} `
    return `[${cells.map((p) => (p === null ? '...' : body(dim + 1, `${margin} `))).join(gap)}]`
  }
  return `${head}\n${indent}${body(0, indent)}`
}

function elementReader(t: Tensor): (x: number | bigint) => number | bigint | boolean {
  if (t.dtype === 'bool') return (x) => x !== 0
  if (t.dtype === 'float16') return (x) => halfToNumber(Number(x))
  if (t.dtype === 'bfloat16') return (x) => bfloat16ToNumber(Number(x))
  // floats are told from integers by their type, so an integral float gets its point below
  return /^(float|complex)/.test(t.dtype) ? (x) => x : (x) => BigInt(x)
}

/** Texts of one width: integers as they are, floats with up to four decimals, in scientific notation where the range asks for it. */
function alignedTexts(values: readonly (number | bigint | boolean)[]): string[] {
  const floats = values.filter((x): x is number => typeof x === 'number' && Number.isFinite(x))
  const sizes = floats.filter((x) => x !== 0).map(Math.abs)
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0)
  const smallest = sizes.reduce((a, b) => Math.min(a, b), Infinity)
  const scientific = largest >= 1e8 || (sizes.length > 0 && (smallest < 1e-4 || largest / smallest > 1e3) && largest < 1)
  const integral = floats.every((x) => Number.isInteger(x))
  const text = (x: number | bigint | boolean): string => {
    if (typeof x === 'boolean') return x ? 'True' : 'False'
    if (typeof x === 'bigint') return x.toString()
    if (Number.isNaN(x)) return 'nan'
    if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf'
    if (scientific) return x.toExponential(4).replace(/e([+-])(\d)$/, 'e$10$2')
    return integral ? `${x.toFixed(0)}.` : x.toFixed(4)
  }
  const texts = values.map(text)
  const width = texts.reduce((w, s) => Math.max(w, s.length), 0)
  return texts.map((s) => s.padStart(width))
}

/** `1.5000-2.0000j` of real and imaginary parts in turn, in one width. */
function joinedPairs(parts: readonly string[]): string[] {
  const texts = Array.from({ length: parts.length / 2 }, (_, i) => {
    const im = parts[2 * i + 1]!.trim()
    return `${parts[2 * i]!}${im.startsWith('-') ? '' : '+'}${im}j`
  })
  const width = texts.reduce((w, s) => Math.max(w, s.length), 0)
  return texts.map((s) => s.padStart(width))
}

function wrap(cells: readonly string[], margin: string): string {
  const lines: string[] = []
  let line = ''
  cells.forEach((cell, i) => {
    const piece = i === cells.length - 1 ? cell : `${cell}, `
    if (line !== '' && margin.length + 1 + line.length + piece.length > LINE) {
      lines.push(line.trimEnd())
      line = ''
    }
    line += piece
  })
  lines.push(line)
  return `[${lines.join(`\n${margin} `)}]`
}

/** Rows of text in aligned columns; columns in `right` are flushed right. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** A title with a table below it, set in; `none` where there are no rows. */
export function section(title: string, rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  return rows.length === 0 ? `${title}\n  none` : `${title}\n${table(rows, right).replace(/^/gm, '  ')}`
}

/** Modules that are in training mode. */
export function trainingSection(title: string, layers: readonly { readonly name: string; readonly type: string }[]): string {
  return section(
    title,
    layers.map(({ name, type }) => [name === '' ? '(the model itself)' : name, type]),
  )
}

/** `forward(Tensor x, int n=2) -> Tensor`, without self. */
export function methodText(
  name: string,
  args: readonly Pick<FunctionArgument, 'name' | 'type' | 'default'>[],
  returns: readonly { readonly type: string }[] | null = null,
): string {
  const list = args.map((a) => `${a.type} ${a.name}${a.default === undefined ? '' : `=${constantText(a.default)}`}`).join(', ')
  if (returns === null) return `${name}(${list})`
  const types = returns.map((r) => r.type)
  return `${name}(${list}) -> ${types.length === 1 ? types[0] : `(${types.join(', ')})`}`
}

/** Milliseconds with three significant digits: `0.0123 ms`, `4.56 ms`. */
export function formatMilliseconds(ms: number): string {
  return `${Number(ms.toPrecision(3))} ms`
}
