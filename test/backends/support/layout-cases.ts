import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { callOperator, complex, float, type Input, int, Tensor } from '../../../src/index.js'
import { fixturePath } from '../../module/fixtures.js'

/** Calls of operators with arguments of many layouts, and how PyTorch's results lie: test/fixtures/layouts/make.py says how they are written. */
type Text = null | boolean | number | string | Text[]
export interface LayoutCase {
  readonly args: Text[]
  readonly result: Text
  /** Arguments that lie in another way after the call. */
  readonly after: string[]
}

/** The cases of each operator. */
export function layoutCases(): Map<string, LayoutCase[]> {
  const lines = gunzipSync(readFileSync(fixturePath('layouts/cases.jsonl.gz')))
    .toString()
    .trimEnd()
    .split('\n')
  return new Map(
    lines.map((line) => {
      const [name, ...rows] = JSON.parse(line) as [string, ...[Text[], Text, string[]?][]]
      return [name, rows.map(([args, result, after]) => ({ args, result, after: after ?? [] }))]
    }),
  )
}

const numbers = (list: string): number[] => (list === '' ? [] : list.split(',').map(Number))
const pattern = (i: number): number => ((i * 37 + 11) % 64) / 64 + 1 / 128

/** Bits of a number as float16 or bfloat16, for those of the pattern and small ones, which are exact. */
function half(x: number, type: string): number {
  const [bits] = new Uint32Array(Float32Array.of(x).buffer)
  if (type === 'bfloat16') return bits! >>> 16
  if (x === 0) return 0
  return ((bits! >>> 16) & 0x8000) | ((((bits! >>> 23) & 0xff) - 112) << 10) | ((bits! >>> 13) & 0x3ff)
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  complex64: Float32Array,
  complex128: Float64Array,
  quint8: Uint8Array,
  qint8: Int8Array,
  qint32: Int32Array,
} as const
type Name = keyof typeof ARRAYS

const TENSOR = /^(\w+)\[([\d,]*)\]\{([\d,]*)\}\+(\d+)(?:\/([^,]+),(-?\d+))?(~|=(.*))$/

function tensorOf(text: string): Tensor {
  const [, type, sizes, steps, first, scale, zero, , listed] = TENSOR.exec(text)!
  const dtype = type as Name
  const [shape, strides, offset] = [numbers(sizes!), numbers(steps!), Number(first)]
  const count = offset + (shape.includes(0) ? 0 : shape.reduce((sum, n, d) => sum + (n - 1) * strides[d]!, 1))
  const pairs = dtype.startsWith('complex')
  let list: number[]
  if (listed === undefined) {
    list = Array.from({ length: count }, (_, i) => pattern(i))
    if (pairs) list = list.flatMap((x, i) => [x, list[count - 1 - i]!])
  } else {
    list = listed === '' ? [] : listed.split(pairs ? /[,;]/ : ',').map(Number)
  }
  const data =
    dtype === 'int64'
      ? BigInt64Array.from(list, BigInt)
      : ARRAYS[dtype].from(dtype.endsWith('float16') ? list.map((x) => half(x, dtype)) : list)
  const quant = scale === undefined ? null : { scale: Number(scale), zeroPoint: Number(zero) }
  return Tensor.fromStorage(data, { dtype, shape, strides, offset, quant })
}

/** An argument, whose tensors are added to `given`. */
export function argumentOf(text: Text, given: Tensor[]): Input {
  if (Array.isArray(text)) return text.map((item) => argumentOf(item, given))
  if (typeof text === 'number') return int(text)
  if (typeof text !== 'string') return text
  const rest = text.slice(1)
  if (text.startsWith("'") || text.startsWith(':')) return rest
  if (text.includes('[')) {
    const made = tensorOf(text)
    given.push(made)
    return made
  }
  const [re, im] = rest.split(',').map((x) => (x === 'inf' ? Infinity : x === '-inf' ? -Infinity : Number(x)))
  return text.startsWith('f') ? float(re!) : complex(re!, im!)
}

const placeOf = (t: Tensor, offset = true): string => `[${t.shape.join(',')}]{${t.strides.join(',')}}${offset ? `+${t.offset}` : ''}`

/** A result as the file has it. */
export function described(value: unknown, given: readonly Tensor[]): Text {
  if (Array.isArray(value)) return value.map((item) => described(item, given))
  if (!(value instanceof Tensor)) return null
  const same = given.indexOf(value)
  if (same >= 0) return `${value.dtype}${placeOf(value)}@${same}!`
  const shared = given.findIndex((t) => t.storage === value.storage)
  return shared >= 0 ? `${value.dtype}${placeOf(value)}@${shared}` : `${value.dtype}${placeOf(value, false)}`
}

/** What a call gives here, in the form of the file. Throws what the call throws. */
export function observed(name: string, { args }: LayoutCase): Pick<LayoutCase, 'result' | 'after'> {
  const given: Tensor[] = []
  const inputs = args.map((arg) => argumentOf(arg, given))
  const before = given.map((t) => placeOf(t))
  const value = callOperator(name, inputs)
  const after = given.flatMap((t, i) => (placeOf(t) === before[i] ? [] : [`${i}${placeOf(t)}`]))
  return { result: described(value, given), after }
}
