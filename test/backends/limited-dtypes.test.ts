import { readFileSync } from 'node:fs'
import t from 'tap'
import { dtypeFromName } from '../../runtime/tensor/dtype.js'
import { numberToFloat8 } from '../../runtime/tensor/float8.js'
import { callOperator, type DTypeName, type Input, int, PtliteError, type Tensor, tensor } from '../../src/index.js'

/** Dtypes with little arithmetic: test/fixtures/limited/cases.json has what PyTorch computes and refuses. */

interface Values {
  readonly values: readonly number[]
  readonly shape: readonly number[]
  readonly dtype?: DTypeName
}
type Result = readonly [kind: string, shape: readonly number[], elements: readonly (number | boolean)[]]
interface Case {
  readonly op: string
  readonly args: readonly unknown[]
  readonly results: Readonly<Record<string, Result | readonly Result[] | null>>
}
interface Cases {
  readonly numbers: readonly number[]
  readonly floats: Readonly<Record<string, { readonly decoded: readonly string[]; readonly encoded: readonly number[] }>>
  readonly own: Readonly<Record<string, Values>>
  readonly others: Readonly<Record<string, Values>>
  readonly cases: readonly Case[]
}

const { numbers, floats, own, others, cases } = JSON.parse(readFileSync('test/fixtures/limited/cases.json', 'utf8')) as Cases
const INTEGERS: Readonly<Record<string, string>> = { uint16: 'int16', uint32: 'int32', uint64: 'int64' }

function made({ values, shape, dtype }: Values, as: DTypeName): Tensor {
  return callOperator('aten::to.dtype', [tensor([...values].map(Number), shape), dtype ?? as]) as Tensor
}

function valueOf(spec: unknown, dtype: DTypeName): Input {
  if (Array.isArray(spec)) return spec.map((item) => valueOf(item, dtype))
  if (typeof spec === 'number') return Number.isInteger(spec) ? int(spec) : spec
  if (typeof spec !== 'string') return spec as Input
  if (spec === 'own') return dtype
  if (spec === 'integers') return INTEGERS[dtype] ?? 'uint8'
  const values = own[spec] ?? others[spec]
  return values === undefined ? spec : made(values, dtype)
}

function plain(value: unknown): Result {
  if (typeof value === 'object' && value !== null && 'dtype' in value) {
    const result = value as Tensor
    const data = Array.from(result.data() as ArrayLike<number | bigint>, (x) => (result.dtype === 'bool' ? x !== 0 : Number(x)))
    return [result.dtype, [...result.shape], result.dtype === 'bfloat16' ? [] : data]
  }
  return [typeof value === 'boolean' ? 'bool' : 'number', [], [value as number]]
}

const KINDS: Readonly<Record<string, string>> = { int: 'number', float: 'number' }

function near(found: Result, [kind, shape, elements]: Result): boolean {
  if (found[0] !== (KINDS[kind] ?? kind) || found[1].join() !== shape.join()) return false
  if (kind === 'bfloat16') return true
  const same = (x: number | boolean, i: number): boolean => {
    const other = found[2][i]!
    if (typeof x === 'boolean' || typeof other === 'boolean') return x === other
    return Object.is(x, other) || Math.abs(x - other) <= (kind === 'float32' ? 1e-6 * Math.abs(x) : 0)
  }
  return found[2].length === elements.length && elements.every(same)
}

for (const { op, args, results } of cases) {
  for (const [dtypes, expected] of Object.entries(results)) {
    for (const dtype of dtypes.split(' ') as DTypeName[]) {
      const what = `${op}(${JSON.stringify(args).slice(1, -1)}) of ${dtype}`
      let found: Result[] | string
      try {
        const value = callOperator(
          `aten::${op}`,
          args.map((arg) => valueOf(arg, dtype)),
        )
        found = Array.isArray(value) ? value.map(plain) : [plain(value)]
      } catch (error) {
        if (!(error instanceof PtliteError)) throw error
        found = `${error.code}: ${error.message}`
      }
      if (expected === null) {
        if (typeof found !== 'string') t.fail(`${what} is refused`, { found })
      } else if (typeof found === 'string') t.fail(what, { found })
      else {
        const list = (Array.isArray(expected[0]) ? expected : [expected]) as readonly Result[]
        const fits = found.length === list.length && list.every((one, i) => near(found[i] as Result, one))
        if (!fits) t.fail(what, { found, expected })
      }
    }
  }
}
for (const [name, { decoded, encoded }] of Object.entries(floats)) {
  const dtype = name as DTypeName
  const numbersOf = decoded.map((text) => (text === 'inf' ? Infinity : text === '-inf' ? -Infinity : Number(text)))
  const all = tensor(
    Uint8Array.from({ length: 256 }, (_, i) => i),
    [256],
    dtype,
  )
  const converted = callOperator('aten::to.dtype', [all, 'float32']) as Tensor
  t.strictSame(Array.from(converted.data() as Float32Array), numbersOf, `all numbers of ${dtype}`)
  t.strictSame(all.toArray(), numbersOf, `all numbers of ${dtype}, in JavaScript`)
  const rounded = callOperator('aten::to.dtype', [tensor([...numbers]), dtype]) as Tensor
  t.strictSame(Array.from(rounded.data() as Uint8Array), encoded, `numbers as ${dtype}`)
  const inJavaScript = numbers.map((number) => numberToFloat8(number, dtypeFromName(dtype)))
  t.strictSame(inJavaScript, encoded, `numbers as ${dtype}, in JavaScript`)
}
for (const [dtype, least, most] of [
  ['uint16', 0, 65535],
  ['uint32', 0, 2 ** 32 - 1],
  ['uint64', 0n, 2n ** 64n - 1n],
] as const) {
  const ends = tensor([least, most] as number[], [2], dtype)
  t.strictSame(ends.toArray(), [Number(least), most], `ends of ${dtype}`)
  const asFloat = callOperator('aten::to.dtype', [ends, 'float64']) as Tensor
  t.strictSame(asFloat.toArray(), [0, Number(most)], `ends of ${dtype} as float64`)
  t.strictSame(
    (callOperator('aten::to.dtype', [asFloat, dtype]) as Tensor).toArray(),
    [Number(least), dtype === 'uint64' ? 0 : most],
    `float64 as ${dtype}`,
  )
  t.throws(() => tensor([70000000000.5], [1], dtype), { code: 'INVALID_ARGUMENT' })
}
t.throws(() => tensor([1.5], [1], 'float8_e4m3fn'), { code: 'INVALID_ARGUMENT', message: /raw bits/ })
t.throws(() => tensor(Uint16Array.of(1)), { code: 'INVALID_ARGUMENT', message: /uint16/ })
t.equal(tensor(Uint32Array.of(7)).dtype, 'uint32')
t.equal(tensor(BigUint64Array.of(7n)).dtype, 'uint64')
t.ok(cases.length > 300, `${cases.length} operators with arguments`)
t.end()
