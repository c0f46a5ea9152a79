import { readFileSync } from 'node:fs'
import { callOperator, float, type Input, int, Tensor } from '../../../src/index.js'
import { fixturePath } from '../../module/fixtures.js'

/** Calls recorded from PyTorch 2.13 by test/fixtures/make_torch2_cases.py, which says what the files hold. */

export interface Shaped {
  readonly dtype: string
  readonly shape: number[]
  readonly strides?: number[]
  readonly offset?: number
  readonly data: string
}
export type Encoded =
  null | boolean | string | { int: number | string } | { float: number | string } | { dtype: string } | Shaped | Encoded[]
export interface Case {
  readonly op: string
  readonly args: Encoded[]
  readonly want?: Encoded
  readonly error?: true
  readonly changed?: Readonly<Record<number, Shaped>>
}
type Real = Parameters<typeof Tensor.fromStorage>[1]['dtype']

const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity, nan: NaN }
const PARTS: Readonly<Record<string, Real>> = { complex64: 'float32', complex128: 'float64' }
const ARRAYS = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bfloat16: Uint16Array, bool: Uint8Array, uint8: Uint8Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
} // prettier-ignore
/** How far a result may lie from PyTorch's, relative to it or to 1; nothing for other dtypes. */
const TOLERANCE: Readonly<Record<string, number>> = { float16: 2e-3, bfloat16: 1.6e-2, float32: 2e-5, float64: 1e-10 }

function tensorOf({ dtype, shape, strides, offset, data }: Shaped): Tensor {
  const part = PARTS[dtype]
  if (part !== undefined) return callOperator('aten::view_as_complex', [tensorOf({ dtype: part, shape: [...shape, 2], data })]) as Tensor
  const bytes = Uint8Array.from(Buffer.from(data, 'base64'))
  return Tensor.fromStorage(new ARRAYS[dtype as keyof typeof ARRAYS](bytes.buffer), { dtype: dtype as Real, shape, strides, offset })
}

export function decode(x: Encoded): Input {
  if (x === null || typeof x !== 'object') return x
  if (Array.isArray(x)) return x.map(decode)
  if ('int' in x) return int(typeof x.int === 'string' ? BigInt(x.int) : x.int)
  if ('float' in x) return float(typeof x.float === 'string' ? SPECIAL[x.float]! : x.float)
  return 'data' in x ? tensorOf(x) : x.dtype
}

/** The elements as numbers that JavaScript has: complex ones as pairs, halves widened. */
export function numbersOf(x: Tensor): number[] {
  if (x.dtype.startsWith('complex')) return numbersOf(callOperator('aten::view_as_real', [x]) as Tensor)
  const plain = x.dtype.endsWith('float16') ? (callOperator('aten::to.dtype', [x, 'float32']) as Tensor) : x
  return Array.from(plain.data() as Float64Array, Number)
}

function near(got: number, want: number, dtype: string): boolean {
  if (got === want || (Number.isNaN(got) && Number.isNaN(want))) return true
  return Math.abs(got - want) <= (TOLERANCE[PARTS[dtype] ?? dtype] ?? 0) * (1 + Math.abs(want)) && Number.isFinite(want)
}

/** What differs between a result and what PyTorch gave; undefined for nothing. */
export function difference(got: unknown, want: Encoded): string | undefined {
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) return `${want.length} results, found ${String(got)}`
    return want.map((item, i) => difference((got as unknown[])[i], item)).find((text) => text !== undefined)
  }
  if (want === null || typeof want !== 'object') return got === want ? undefined : `${String(want)}, found ${String(got)}`
  if (!('data' in want))
    return near(Number(got), Number(decode(want)), 'float64') ? undefined : `${JSON.stringify(want)}, found ${String(got)}`
  if (!(got instanceof Tensor)) return `a tensor, found ${String(got)}`
  if (got.dtype !== want.dtype || got.shape.join() !== want.shape.join()) {
    return `${want.dtype}[${want.shape.join()}], found ${got.dtype}[${got.shape.join()}]`
  }
  const expected = numbersOf(tensorOf(want))
  const found = numbersOf(got)
  const wrong = expected.findIndex((x, i) => !near(found[i]!, x, want.dtype))
  return wrong < 0 ? undefined : `element ${wrong}: ${expected[wrong]!}, found ${found[wrong]!}`
}

/** The cases of fixtures/torch2/`name`.json. */
export function torch2Cases(name: 'core' | 'operators' | 'lists' | 'others'): Case[] {
  return JSON.parse(readFileSync(fixturePath(`torch2/${name}.json`), 'utf8')) as Case[]
}
