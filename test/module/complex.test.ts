import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseGraph } from '../../compiler/graph/parse.js'
import { printGraph } from '../../compiler/graph/print.js'
import { compileAhead } from '../../src/ahead.js'
import { callOperator, Complex, complex, float, type Input, int, loadModule, type Module, Tensor, tensor, tuple } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

/** Programs on complex numbers, saved by two versions of PyTorch; ../fixtures/complex/make_programs.py says how values are encoded. */

interface Shaped {
  readonly dtype: string
  readonly shape: number[]
  readonly data: (number | boolean)[]
}
type Encoded =
  | null
  | boolean
  | string
  | { int: number }
  | { float: number | string }
  | { complex: (number | string)[] }
  | { tuple: Encoded[] }
  | { dict: [Encoded, Encoded][] }
  | Shaped
  | Encoded[]
interface Call {
  readonly method: string
  readonly args: Encoded[]
  readonly want?: Encoded
  readonly error?: true
}

const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity, nan: NaN }
const numberOf = (x: number | string): number => (typeof x === 'string' ? SPECIAL[x]! : x)

function decode(x: Encoded): Input {
  if (x === null || typeof x !== 'object') return x
  if (Array.isArray(x)) return x.map(decode)
  if ('int' in x) return int(x.int)
  if ('float' in x) return float(numberOf(x.float))
  if ('complex' in x) return complex(numberOf(x.complex[0]!), numberOf(x.complex[1]!))
  if ('tuple' in x) return tuple(...x.tuple.map(decode))
  if ('dict' in x) return new Map(x.dict.map(([key, value]) => [decode(key) as Complex, decode(value)]))
  const values = x.data.map(Number)
  if (x.dtype !== 'complex64') return tensor(values, x.shape, x.dtype as 'float32')
  return callOperator('aten::view_as_complex', [tensor(values, [...x.shape, 2], 'float32')]) as Tensor
}

/** A result in the form of `want`. */
function plain(x: unknown): unknown {
  if (x instanceof Complex) return { re: x.re, im: x.im }
  if (x instanceof Map) return [...x].map(plain)
  if (Array.isArray(x)) return x.map(plain)
  if (!(x instanceof Tensor)) return x
  const data = (x.dtype === 'complex64' ? (callOperator('aten::view_as_real', [x]) as Tensor) : x).data()
  return { dtype: x.dtype, shape: x.shape, data: Array.from<number | bigint, number>(data, Number) }
}

function wanted(x: Encoded): unknown {
  if (x === null || typeof x !== 'object') return x
  if (Array.isArray(x)) return x.map(wanted)
  if ('int' in x) return x.int
  if ('float' in x) return numberOf(x.float)
  if ('complex' in x) return { re: numberOf(x.complex[0]!), im: numberOf(x.complex[1]!) }
  if ('tuple' in x) return x.tuple.map(wanted)
  if ('dict' in x) return x.dict.map(([key, value]) => [wanted(key), wanted(value)])
  return { dtype: x.dtype, shape: x.shape, data: x.data.map(Number) }
}

/** Equal but for the last digits of numbers. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Object.is(a, b) || Math.abs(a - b) <= 1e-7 * Math.abs(b)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [x, y] = [Object.entries(a), Object.entries(b)]
  return x.length === y.length && x.every(([key, value], i) => key === y[i]![0] && same(value, y[i]![1]))
}

type Caller = (module: Module, method: string, args: Input[]) => unknown
const callers: Readonly<Record<string, Caller>> = {
  'on this thread': (module, method, args) => module.call(method, args),
  'in the background': (module, method, args) => module.run(method, args),
}

for (const version of ['1.13', '2.13']) {
  const calls = JSON.parse(readFileSync(fixturePath(`complex/programs-${version}.json`), 'utf8')) as Call[]
  for (const kind of ['ptl', 'ff']) {
    for (const [where, caller] of Object.entries(callers)) {
      t.test(`programs-${version}.${kind} ${where}`, async (t) => {
        const module = await loadModule(fixturePath(`complex/programs-${version}.${kind}`))
        // the second round is that of compiled calls, where there are such
        for (const round of [1, 2]) {
          for (const [i, { method, args, want, error }] of calls.entries()) {
            const title = `${method} #${i}, round ${round}`
            try {
              const got = plain(await caller(module, method, args.map(decode)))
              t.ok(error !== true && same(got, wanted(want!)), title, { got, want })
            } catch (thrown) {
              t.ok(error === true && (thrown as Error).name === 'PtliteError', title, { thrown })
            }
          }
        }
        module.dispose()
      })
    }
  }
}

t.test('compiled ahead of time', async (t) => {
  const path = fixturePath('complex/programs-2.13.ptl')
  const x = tensor([1.5, -2], [2], 'float32')
  const bytes = compileAhead(path, () => ['forward', 'scaled'].map((method) => ({ method, args: [x] })))
  const [compiled, interpreted] = [await loadModule(bytes), await loadModule(path, { compile: 'off' })]
  for (const method of ['forward', 'scaled']) t.strictSame(plain(compiled.call(method, [x])), plain(interpreted.call(method, [x])), method)
  const [, product, list] = compiled.call('scaled', [x]) as [Tensor, Complex, Complex[]]
  t.ok(product instanceof Complex && list[0] instanceof Complex)
  compiled.dispose()
  interpreted.dispose()
})

t.test('complex numbers in the text of a graph', (t) => {
  const text = `input %0: float32[2] @0
%1: complex64[2] @1 = aten::add.Scalar(%0, complex 1.5 -0., 1)
%2: complex64[2] @2 = aten::mul.Scalar(%1, complex -inf 2.5e-7)
return %2
`
  t.equal(printGraph(parseGraph(text, { constant: () => tensor([0]) })), text)
  t.end()
})

t.test('arguments that are complex', async (t) => {
  const module = await loadModule(fixturePath('complex/programs-2.13.ptl'))
  t.same(plain(module.call('polynomial', [2, 1])), { re: -0.5, im: 1.25 }, 'a real number is complex, too')
  t.throws(() => module.call('polynomial', ['2', 1]), { code: 'INVALID_ARGUMENT', message: /expected complex, found str/ })
  t.throws(() => module.call('polynomial', [complex(1), complex(1)]), { code: 'INVALID_ARGUMENT', message: /expected int, found complex/ })
  t.throws(() => module.call('total', [[complex(1), 'x']]), { code: 'INVALID_ARGUMENT' })
  const dict = new Map([
    [complex(1, 2), 3],
    [complex(0, 1), 4],
  ])
  const [keys, values] = module.call('entries', [dict]) as [Complex[], number[]]
  t.ok(keys[0] instanceof Complex && keys.length === 2)
  t.same(values, [4])
  t.same([...dict.values()], [4], "what the program takes out is gone from the caller's dict")
  t.same(plain(module.getAttribute('pole')), { re: 0.5, im: -0.25 })
  t.match(module.methods, ['forward'])
  module.dispose()
})

t.test('printed as a number', (t) => {
  t.equal(String(complex(1, -2)), '(1-2j)')
  t.equal(String(complex(0.5, 3)), '(0.5+3j)')
  t.equal(String(complex(-1, -0)), '(-1-0j)')
  t.equal(callOperator('aten::str', [complex(0.5, -2)]), '0.5-2.j')
  t.equal(callOperator('aten::format', ['{}', complex(1, 2)]), '1.+2.j')
  t.throws(() => callOperator('aten::percentFormat', ['%d', complex(1, 2)]), { code: 'MODEL_ERROR' })
  t.throws(() => callOperator('aten::hash.generic', [complex(1, 2)]), { code: 'MODEL_ERROR', message: /unhashable type: complex/ })
  t.end()
})

t.test('a real tensor to a complex power is complex, as in PyTorch', (t) => {
  const power = callOperator('aten::pow.Tensor_Scalar', [tensor([1, 2], [2], 'float32'), complex(1, 2)]) as Tensor
  t.equal(power.dtype, 'complex64')
  // torch.tensor([1., 2.]).pow(1 + 2j)
  const parts = [1, 0, 0.3669139, 1.9660555]
  Array.from(power.data() as Float32Array).forEach((v, i) => t.ok(Math.abs(v - parts[i]!) < 1e-6, `part ${i}: ${v}`))
  t.end()
})

t.test('operators without complex arithmetic refuse complex numbers', (t) => {
  const x = tensor([1, 2], [2], 'float32')
  for (const [name, args] of [
    ['aten::clamp', [x, complex(1, 2)]],
    ['aten::addcmul', [x, x, x, complex(1, 2)]],
    ['aten::linspace', [0, complex(1, 2), 3]],
    ['aten::div', [complex(1, 2), 2]],
  ] as const) {
    t.throws(() => callOperator(name, args as unknown as Input[]), { code: 'INVALID_ARGUMENT', message: /found complex \(1\+2j\)/ }, name)
  }
  t.throws(() => callOperator('aten::masked_fill.Scalar', [x, tensor([1, 0], [2], 'bool'), complex(1, 2)]), {
    code: 'INVALID_ARGUMENT',
    message: /the complex number \(1, 2\) cannot be converted to float32/,
  })
  t.throws(() => callOperator('aten::add.Scalar', [callOperator('aten::to.dtype', [x, 'float16']) as Tensor, complex(1, 2)]), {
    code: 'UNSUPPORTED_DTYPE',
    message: /complex32/,
  })
  t.end()
})
