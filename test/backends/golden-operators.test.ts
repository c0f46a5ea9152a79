import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { callOperator, Complex, complex, float, type Input, int, Tensor, tensor } from '../../src/index.js'

/** Calls recorded from PyTorch by test/fixtures/make_operator_cases.py, which says what the files hold. */
const folder = fileURLToPath(new URL('../fixtures/operators', import.meta.url))

interface Shaped {
  readonly dtype: string
  readonly shape: number[]
  readonly data: (number | boolean | string)[]
}
type Encoded =
  | null
  | boolean
  | string
  | { int: number }
  | { float: number | string }
  | { complex: (number | string)[] }
  | { dtype: string }
  | { generator: number }
  | Shaped
  | Encoded[]
interface Case {
  readonly op: string
  readonly args: Encoded[]
  readonly want?: Encoded
  readonly error?: true
  /** How far elements may lie from PyTorch's, relative to 1 and themselves. */
  readonly tolerance?: number
}

const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity, nan: NaN }
const numberOf = (x: number | boolean | string): number => (typeof x === 'string' ? SPECIAL[x]! : Number(x))
const isComplex = (dtype: string): boolean => dtype.startsWith('complex')
const isHalf = (dtype: string): boolean => dtype.endsWith('float16') || dtype.startsWith('float8')
const PARTS: Readonly<Record<string, string>> = { complex64: 'float32', complex128: 'float64' }

function decode(x: Encoded): Input {
  if (x === null || typeof x !== 'object') return x
  if (Array.isArray(x)) return x.map(decode)
  if ('int' in x) return int(x.int)
  if ('float' in x) return float(numberOf(x.float))
  if ('complex' in x) return complex(numberOf(x.complex[0]!), numberOf(x.complex[1]!))
  if ('generator' in x) return callOperator('aten::Generator', [null, int(x.generator)]) as Input
  if (!('data' in x)) return x.dtype
  const values = x.data.map(numberOf)
  if (isComplex(x.dtype))
    return callOperator('aten::view_as_complex', [tensor(values, [...x.shape, 2], PARTS[x.dtype] as 'float32')]) as Tensor
  if (isHalf(x.dtype)) return callOperator('aten::to.dtype', [tensor(values, x.shape, 'float32'), x.dtype]) as Tensor
  return tensor(values, x.shape, x.dtype as 'float32')
}

/** What differs between a result and what PyTorch gave; undefined for nothing. */
function difference(got: unknown, want: Encoded, tolerance?: number): string | undefined {
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) return `${want.length} results, found ${String(got)}`
    return want.map((item, i) => difference((got as unknown[])[i], item, tolerance)).find((text) => text !== undefined)
  }
  if (want === null || typeof want !== 'object') return got === want ? undefined : `${String(want)}, found ${String(got)}`
  if ('int' in want) return got === want.int ? undefined : `${want.int}, found ${String(got)}`
  if ('float' in want)
    return near(got as number, numberOf(want.float), toleranceOf('float64')) ? undefined : `${want.float}, found ${String(got)}`
  if ('complex' in want) {
    const parts = got instanceof Complex ? [got.re, got.im] : []
    const same = want.complex.every((x, i) => nearExactly(parts[i]!, numberOf(x)))
    return same ? undefined : `${want.complex.join(' + i ')}, found ${String(got)}`
  }
  if (!('data' in want) || !(got instanceof Tensor)) return `a tensor, found ${String(got)}`
  if (got.dtype !== want.dtype || got.shape.join() !== want.shape.join()) {
    return `${want.dtype}[${want.shape.join()}], found ${got.dtype}[${got.shape.join()}]`
  }
  const found = Array.from(numbersOf(got).data() as Float64Array, Number)
  const wrong = want.data.findIndex((x, i) => !near(found[i]!, numberOf(x), tolerance ?? toleranceOf(want.dtype)))
  return wrong < 0 ? undefined : `element ${wrong}: ${want.data[wrong]!}, found ${found[wrong]!}`
}

/** The elements as numbers that JavaScript has: complex ones as pairs, halves widened. */
function numbersOf(x: Tensor): Tensor {
  if (isComplex(x.dtype)) return callOperator('aten::view_as_real', [x]) as Tensor
  return isHalf(x.dtype) ? (callOperator('aten::to.dtype', [x, 'float32']) as Tensor) : x
}

const toleranceOf = (dtype: string): number => (dtype === 'float32' || dtype === 'complex64' ? 2e-5 : 1e-10)

function near(got: number, want: number, tolerance: number): boolean {
  if (!Number.isFinite(want)) return Object.is(got, want)
  return Math.abs(got - want) <= tolerance * (1 + Math.abs(want))
}

/** As near as a few units in the last place of the larger part; zeros must have their sign. */
function nearExactly(got: number, want: number): boolean {
  return want === 0 || !Number.isFinite(want) ? Object.is(got, want) : Math.abs(got - want) <= 1e-14 * Math.abs(want)
}

/** What differs, or what was thrown. */
function outcome(call: () => unknown, want: Encoded, tolerance?: number): string | undefined {
  try {
    return difference(call(), want, tolerance)
  } catch (error) {
    return String(error)
  }
}

for (const file of readdirSync(folder).sort()) {
  t.test(basename(file, '.json'), (t) => {
    const cases = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case[]
    for (const [i, { op, args, want, error, tolerance }] of cases.entries()) {
      const title = `${op} #${i}`
      const call = () => callOperator(op, args.map(decode))
      if (error === true) t.throws(call, { name: 'PtliteError' }, title)
      else t.equal(outcome(call, want!, tolerance), undefined, title)
    }
    t.end()
  })
}
