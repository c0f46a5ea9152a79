import t, { type Test } from 'tap'
import { capture } from '../../compiler/capture/capture.js'
import { buildPlan } from '../../compiler/executor/plan.js'
import { GraphRunner } from '../../compiler/graph/execute.js'
import type { Graph } from '../../compiler/graph/graph.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { elementwise } from '../../compiler/passes/fuse/elementwise.js'
import { stackedChains } from '../../compiler/passes/fuse/stacked-chains.js'
import { DType, type DTypeName } from '../../runtime/tensor/dtype.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { callOperator, int, tensor } from '../../src/index.js'
import { again } from '../support/again.js'
import { operators } from './pass-checks.js'

/**
 * Chains over floats of 16 and 32 bits and bools, with one result or several: the bits of the operators one by one, where steps are
 * interpreted and where code is generated.
 */

let seed = 7
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

const CONSTANTS: Readonly<Record<string, Tensor>> = {
  half: tensor(Float64Array.of(0.5), [], 'float64'),
  third: tensor(Float64Array.of(1 / 3), [], 'float64'),
  two: tensor(BigInt64Array.of(2n), [], 'int64'),
}

function parse(text: string): Graph {
  const graph = parseGraph(text, { constant: (name) => CONSTANTS[name], object: () => undefined })
  verifyGraph(graph)
  return graph
}

function inputOf(graph: Graph, id: number): Tensor {
  const { dtype, shape } = graph.values.get(id)!.type
  const count = shape.reduce((a, b) => a * b, 1)
  if (dtype === DType.bool)
    return tensor(
      Uint8Array.from({ length: count }, () => Number(random() < 0.4)),
      [...shape],
      'bool',
    )
  const data = Float32Array.from({ length: count }, () => (random() < 0.03 ? pick([NaN, Infinity, -Infinity, 0, -0]) : 8 * random() - 4))
  const floats = tensor(data, [...shape])
  return dtype === DType.float32 ? floats : (callOperator('aten::to.dtype', [floats, int(dtype), false, false, null]) as Tensor)
}

/** What a result holds; all NaNs are one, and zeros have their sign. */
function bits(value: Value): unknown {
  if (Array.isArray(value)) return value.map(bits)
  const result = value as Tensor
  if (result.dtype === 'bool') return [...(result.data() as Uint8Array)]
  const floats = callOperator('aten::to.dtype', [result, int(DType.float32), false, false, null]) as Tensor
  return [result.dtype, ...(floats.data() as Float32Array)].map((x) => (Object.is(x, -0) ? '-0' : String(x)))
}

/** Compares a graph with what the passes make of it, run operator by operator and as a plan. */
function compare(t: Test, text: string, left?: readonly string[]): void {
  const before = parse(text)
  const after = stackedChains.run(elementwise.run(before))
  verifyGraph(after)
  if (left !== undefined) t.strictSame(operators(after), left, printGraph(after))
  const inputs = before.inputs.map((id) => inputOf(before, id))
  const runner = new GraphRunner(after)
  const want = bits(new GraphRunner(before).run(inputs, true))
  t.strictSame(bits(runner.run(inputs, true)), want, text)
  const { captured } = capture(() => runner.run(inputs), inputs)
  const plan = captured === null ? 'not captured' : buildPlan(captured)
  if (typeof plan === 'string') throw new Error(plan)
  t.strictSame(bits(plan.run(inputs)), want, text)
  plan.dispose()
}

const UNARY = [
  'relu',
  'sigmoid',
  'tanh',
  'neg',
  'abs',
  'square',
  'exp',
  'sqrt',
  'rsqrt',
  'reciprocal',
  'silu',
  'hardswish',
  'hardsigmoid',
  'mish',
  'log',
  'erf',
]
const WITH_NUMBERS = ['mul.Scalar(X, 0.5)', 'add.Scalar(X, 1, 1)', 'div.Scalar(X, 3)', 'add.Scalar(X, 0.1, 1)', 'sub.Scalar(X, 0.3, 1)', 'mul.Scalar(X, 1.7)', 'rsub.Scalar(X, 1, 1)', 'rsub.Scalar(X, 0.7, 1)',
  'clamp(X, -0.5, 1.5)', 'clamp(X, -0.3, 0.7)', 'hardtanh(X, -1., 1.)', 'leaky_relu(X, 0.01)', 'elu(X, 1, 1, 1)', 'gelu(X, "none")', 'gelu(X, "tanh")', 'pow.Tensor_Scalar(X, 2)', 'pow.Tensor_Scalar(X, 0.5)', 'clamp_min(X, 0.1)', 'softplus(X, 1, 20)'] // prettier-ignore
const BINARY = ['add.Tensor(X, Y, 1)', 'sub.Tensor(X, Y, 1)', 'mul.Tensor(X, Y)', 'div.Tensor(X, Y)', 'minimum(X, Y)', 'maximum(X, Y)', 'rsub.Tensor(X, Y, 1)'] // prettier-ignore
const COMPARED = ['lt', 'le', 'gt', 'ge', 'eq', 'ne']

/** A random graph of values of one shape over inputs that are broadcast to it. */
function randomGraph(shape: readonly number[], float: DTypeName): string {
  const full = `[${shape.join(', ')}]`
  const kinds: { name: string; dtype: DTypeName }[] = []
  const lines: string[] = []
  const input = (dtype: DTypeName, own: readonly number[]): void => {
    lines.push(`input %${kinds.length}: ${dtype}[${own.join(', ')}] @${kinds.length}`)
    kinds.push({ name: `%${kinds.length}`, dtype })
  }
  const broadcast = (): number[] => shape.map((n) => (random() < 0.3 ? 1 : n))
  input(float, shape)
  input(float, broadcast())
  input('bool', broadcast())
  input('bool', shape)
  if (random() < 0.5) input('float32', broadcast())
  const given = kinds.length
  const of = (dtype: DTypeName): string => {
    const all = kinds.filter((k, i) => k.dtype === dtype && (i >= given || i === 0 || random() < 0.4))
    return pick(all.length > 0 ? all : kinds.filter((k) => k.dtype === dtype)).name
  }
  const node = (dtype: DTypeName, call: string): void => {
    lines.push(`%${kinds.length}: ${dtype}${full} @${kinds.length} = aten::${call}`)
    kinds.push({ name: `%${kinds.length}`, dtype })
  }
  // of full shape, so that every later value has it
  node(float, 'add.Tensor(%0, %1, 1)')
  const whole = (dtype: DTypeName): string => pick(kinds.filter((k, i) => k.dtype === dtype && (i >= given || i === 0 || i === 3))).name
  for (let i = 0; i < 3 + Math.floor(random() * 8); i++) {
    const dtype = kinds.some((k, i) => k.dtype === 'float32' && i >= given) && random() < 0.4 ? 'float32' : float
    const call = (text: string): string => text.replace('X', whole(dtype)).replace('Y', of(dtype))
    const draw = random()
    if (draw < 0.3) node(dtype, call(`${pick(UNARY)}(X)`))
    else if (draw < 0.45) node(dtype, call(pick(WITH_NUMBERS)))
    else if (draw < 0.65) node(dtype, call(pick(BINARY)))
    else if (draw < 0.72)
      node('bool', call(random() < 0.5 ? `${pick(COMPARED)}.Tensor(X, Y)` : `${pick(COMPARED)}.Scalar(X, ${pick(['0', '0.1', '1'])})`))
    else if (draw < 0.78) node('bool', `${pick(['logical_and', 'logical_or'])}(${whole('bool')}, ${of('bool')})`)
    else if (draw < 0.82) node('bool', `logical_not(${whole('bool')})`)
    else if (draw < 0.88) node(dtype, call(`where.self(${of('bool')}, X, Y)`))
    else if (draw < 0.92) node(dtype, call(`masked_fill.Scalar(X, ${of('bool')}, ${pick(['0', '-inf', '0.5', '-1000.3'])})`))
    else {
      const to = pick(['float32', float] as const)
      const from = pick(['float32', float, 'bool'] as const)
      if (kinds.some((k, i) => k.dtype === from && (i >= given || i === 0 || i === 3)) && to !== from)
        node(to, `to.dtype(${whole(from)}, ${DType[to]}, False, False, None)`)
    }
  }
  const results = kinds.slice(given).filter((_, i, all) => i === all.length - 1 || random() < 0.2)
  return `${lines.join('\n')}\nreturn [${results.map((r) => r.name).join(', ')}]\n`
}

t.test('random chains', (t) => {
  const shapes = [[5], [67], [3, 40], [2, 5, 33], [4, 3, 16], [300], [3, 64]]
  for (let i = 0; i < 400; i++) compare(t, randomGraph(pick(shapes), pick(['float32', 'bfloat16', 'float16'])))
  t.end()
})

const FUSED = ['ptlite::fused_results']

t.test('an LSTM cell that is spelled out is one loop over its gates with two results', (t) => {
  const chunk = (i: number): string =>
    `%${i + 2}: float32[3, 40] strides [160, 1] from ${40 * i} @0 = aten::slice.Tensor(%0, 1, ${40 * i}, ${40 * i + 40}, 1)\n`
  const lines = ['sigmoid(%2)', 'sigmoid(%3)', 'tanh(%4)', 'sigmoid(%5)', 'mul.Tensor(%7, %1)', 'mul.Tensor(%6, %8)', 'add.Tensor(%10, %11, 1)', 'tanh(%12)', 'mul.Tensor(%9, %13)'] // prettier-ignore
  const text = `input %0: float32[3, 160] @0
input %1: float32[3, 40] @1
${[0, 1, 2, 3].map(chunk).join('')}${lines.map((call, i) => `%${i + 6}: float32[3, 40] @${i + 2} = aten::${call}\n`).join('')}return [%14, %12]
`
  compare(t, text, [...new Array<string>(4).fill('aten::slice.Tensor'), ...FUSED])
  t.end()
})

t.test('where two chains become one', (t) => {
  const first = 'input %0: float32[4, 9] @0\ninput %1: float32[9] @1\n%2: float32[4, 9] @2 = aten::add.Tensor(%0, %1, 1)\n'
  const second = (call: string): string => `%3: float32[4, 9] @3 = aten::${call}\n`
  compare(t, `${first}${second('sigmoid(%2)')}return [%2, %3]\n`, FUSED)
  // the second also waits for what another operator makes
  const sum = '%4: float32[9] @4 = aten::sum.dim_IntList(%0, [0], False, None)\n'
  compare(t, `${first}${sum}${second('mul.Tensor(%2, %4)')}return [%3, %2]\n`, ['aten::sum.dim_IntList', ...FUSED])
  // which must not come from the first
  const own = sum.replace('%0', '%2')
  compare(t, `${first}${own}${second('mul.Tensor(%2, %4)')}return [%3, %2]\n`, [
    'aten::add.Tensor',
    'aten::sum.dim_IntList',
    'aten::mul.Tensor',
  ])
  // nor may others read the first before it is there
  compare(t, `${first}${own}%5: float32[9] @5 = aten::cumsum(%4, 0, None)\n${second('mul.Tensor(%2, %1)')}return [%3, %5]\n`, [
    ...FUSED,
    'aten::sum.dim_IntList',
    'aten::cumsum',
  ])
  compare(t, `${first}${second('cos(%2)')}return [%2, %3]\n`, ['aten::add.Tensor', 'aten::cos'])
  compare(t, `${first}%3: float32[2, 4, 9] @3 = aten::add.Tensor(%2, %4, 1)\nreturn [%2, %3]\n`.replace('%2:', '%4: float32[2, 1, 1] @4 = aten::zeros([2, 1, 1], 6, None, None, None)\n%2:'), ['aten::zeros', 'aten::add.Tensor', 'aten::add.Tensor']) // prettier-ignore
  t.end()
})

t.test('numbers that tracing recorded as tensors', (t) => {
  const graph = (type: string, name: string): string =>
    `input %0: bfloat16[4, 9] @0\nconstant %1: ${type}[] @1 = "${name}"\n%2: bfloat16[4, 9] @2 = aten::mul.Tensor(%0, %1)\n%3: bfloat16[4, 9] @3 = aten::sigmoid(%2)\nreturn [%3]\n`
  compare(t, graph('float64', 'half'), ['ptlite::fused'])
  compare(t, graph('int64', 'two'), ['ptlite::fused'])
  // operators round such a number to their dtype
  compare(t, graph('float64', 'third'), ['aten::mul.Tensor', 'aten::sigmoid'])
  t.end()
})

t.test('arguments of ptlite::fused_results', (t) => {
  const x = tensor([1, 2, 3], [3])
  const call = (steps: number[], dtypes: number[], inputs: readonly Tensor[] = [x]) =>
    callOperator('ptlite::fused_results', [
      inputs,
      [int(3)],
      [int(4), int(10)],
      [0, 0, 1, 1].map(int),
      [0, 0, 0, 0],
      steps.map(int),
      dtypes.map(int),
    ])
  t.equal((call([0, 1], [DType.float32, DType.bfloat16]) as Value[]).length, 2)
  for (const [steps, dtypes] of [
    [
      [1, 0],
      [6, 6],
    ],
    [[0], [6]],
    [
      [0, 0, 1],
      [6, 6, 6],
    ],
    [
      [-1, 1],
      [6, 6],
    ],
    [[0, 1], [6]],
    [[], []],
  ] as const)
    // prettier-ignore
    t.throws(() => call([...steps], [...dtypes]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call([1], [DType.float64]), { message: /expected tensors of 16- or 32-bit floats or bools, found float64/ })
  const double = callOperator('aten::to.dtype', [x, int(DType.float64), false, false, null]) as Tensor
  t.throws(() => call([1], [6], [double]), { message: /found float64/ })
  t.end()
})

again(t, import.meta.url, { ATEN_CPU_CAPABILITY: 'avx2' }, { ATEN_CPU_CAPABILITY: 'default' })
