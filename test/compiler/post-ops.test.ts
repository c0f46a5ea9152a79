import t, { type Test } from 'tap'
import { capture } from '../../compiler/capture/capture.js'
import { buildPlan } from '../../compiler/executor/plan.js'
import { GraphRunner } from '../../compiler/graph/execute.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { elementwise } from '../../compiler/passes/fuse/elementwise.js'
import { postOps } from '../../compiler/passes/lower/post-ops.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { setNumThreads, tensor } from '../../src/index.js'
import { again } from '../support/again.js'
import { operators } from './pass-checks.js'
import { check as checkPass, CONV } from './pass-weights.js'

const ready = kernels.jit_info().state === kernels.JitState.ready

let seed = 1
function random(shape: readonly number[]): Tensor {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return (seed / 2 ** 32) * 4 - 2
  })
  return tensor(data, [...shape])
}

const bits = (x: Tensor): Buffer => Buffer.from((x.data() as Float32Array).slice().buffer)
const list = (shape: readonly number[]): string => `[${shape.join(', ')}]`

/**
 * A dense operator on tensors of these shapes, then steps on its result %r and operands %o0, %o1, ...; the last step has the result's
 * shape. Checks that the pass leaves `left`, and that outputs keep their bits, operator by operator and as a plan.
 */
function check(
  t: Test,
  name: string,
  inputs: readonly (readonly number[])[],
  dense: string,
  result: readonly number[],
  operands: readonly (readonly number[])[],
  steps: readonly string[],
  left: string[] | null,
): void {
  const shapes = [...inputs, ...operands]
  const header = shapes.map((shape, i) => `input %${i}: float32${list(shape)} @${i}\n`).join('')
  const base = shapes.length
  const place = (text: string, i: number): string =>
    text
      .replace(/%o(\d)/g, (_, o: string) => `%${inputs.length + Number(o)}`)
      .replace(/%s(\d)/g, (_, s: string) => `%${base + 1 + Number(s)}`)
      .replaceAll('%r', `%${base}`)
      .replaceAll('%x', `%${base + i}`)
  const lines = [dense, ...steps].map((call, i) => `%${base + i}: float32${list(result)} @${base + i} = ${place(call, i - 1)}\n`)
  const text = `${header}${lines.join('')}return %${base + steps.length}\n`
  const graph = parseGraph(text, { constant: () => undefined, object: () => undefined })
  verifyGraph(graph)
  const after = postOps.run(elementwise.run(graph))
  verifyGraph(after)
  if (left !== null) t.strictSame(operators(after), left, `${name}\n${printGraph(after)}`)
  const tensors = shapes.map(random)
  // weights are packed when they are used again, and packed products add in another order
  const reference = new GraphRunner(graph)
  reference.run(tensors, true)
  reference.run(tensors)
  const want = bits(reference.run(tensors) as Tensor)
  const runner = new GraphRunner(after)
  t.ok(want.equals(bits(runner.run(tensors, true) as Tensor)), `${name}, operator by operator`)
  // weights of a module are no inputs, and so are packed in a plan too
  const given = tensors.filter((_, i) => i === 0 || i >= inputs.length)
  const { captured } = capture(() => runner.run(tensors), given)
  const plan = captured === null ? 'not captured' : buildPlan(captured)
  if (typeof plan === 'string') throw new Error(plan)
  if (left?.length === 1) t.equal(plan.generated, ready ? 1 : 0)
  for (const threads of [1, 2]) {
    setNumThreads(threads)
    t.ok(want.equals(bits(plan.run(given) as Tensor)), `${name}, as a plan with ${threads} threads`)
  }
  setNumThreads(1)
  plan.dispose()
}

const GELU_RESIDUAL = ['aten::gelu(%r, "none")', 'aten::add.Tensor(%s0, %o0, 1)']

t.test('linear layers of all sizes', (t) => {
  for (const [m, n, k] of [
    [1, 7, 5],
    [1, 200, 33],
    [3, 33, 40],
    [5, 300, 17],
    [40, 330, 800],
    [64, 5, 0],
    [17, 16, 1],
  ] as const) {
    const linear = 'aten::linear(%0, %1, %2)'
    check(t, `${m} x ${n} x ${k}`, [[m, k], [n, k], [n]], linear, [m, n], [[m, n]], GELU_RESIDUAL, ['ptlite::linear +'])
  }
  t.end()
})

t.test('operands by rows, columns, and one for all', (t) => {
  const x = [2, 9, 20]
  const inputs = [x, [24, 20], [24]]
  for (const operand of [[2, 9, 24], [24], [1], [2, 9, 1], [9, 24].slice(1), []]) {
    for (const op of [
      'add.Tensor(%r, %o0, 1)',
      'sub.Tensor(%o0, %r, 1)',
      'mul.Tensor(%r, %o0)',
      'div.Tensor(%r, %o0)',
      'maximum(%o0, %r)',
      'minimum(%r, %o0)',
    ])
      check(t, `${op} ${list(operand)}`, inputs, 'aten::linear(%0, %1, %2)', [2, 9, 24], [operand], [`aten::${op}`], ['ptlite::linear +'])
  }
  // neither one row for all nor all of its own
  check(
    t,
    'broadcast over the first dimension',
    inputs,
    'aten::linear(%0, %1, %2)',
    [2, 9, 24],
    [[1, 9, 24]],
    ['aten::add.Tensor(%r, %o0, 1)'],
    ['aten::linear', 'aten::add.Tensor'],
  )
  t.end()
})

const CONVOLUTIONS: readonly [string, number[], number[], string, number[]][] = [
  ['pointwise', [2, 20, 7, 9], [33, 20, 1, 1], '[1, 1], [0, 0], [1, 1], 1', [2, 33, 7, 9]],
  ['3 x 3', [1, 5, 12, 31], [17, 5, 3, 3], '[1, 1], [1, 1], [1, 1], 1', [1, 17, 12, 31]],
  ['strided', [2, 16, 15, 15], [40, 16, 3, 3], '[2, 2], [1, 1], [1, 1], 1', [2, 40, 8, 8]],
  ['grouped', [1, 12, 9, 9], [18, 4, 3, 3], '[1, 1], [1, 1], [1, 1], 3', [1, 18, 9, 9]],
  ['depthwise', [2, 11, 17, 13], [11, 1, 3, 3], '[1, 1], [1, 1], [1, 1], 11', [2, 11, 17, 13]],
  ['depthwise, strided', [1, 6, 40, 40], [12, 1, 5, 5], '[2, 2], [2, 2], [1, 1], 6', [1, 12, 20, 20]],
  ['deep', [1, 160, 5, 5], [20, 160, 3, 3], '[1, 1], [1, 1], [1, 1], 1', [1, 20, 5, 5]],
]

t.test('convolutions', (t) => {
  for (const [name, x, w, settings, out] of CONVOLUTIONS) {
    const inputs = [x, w, [w[0]!]]
    const conv = `aten::conv2d(%0, %1, %2, ${settings})`
    const left = ['ptlite::convolution +']
    check(t, `${name}, gelu, residual`, inputs, conv, out, [out], GELU_RESIDUAL, left)
    // squeeze and excite, one value per channel, one image for all channels
    for (const operand of [[out[0]!, out[1]!, 1, 1], [out[1]!, 1, 1], [1]])
      check(t, `${name}, silu, ${list(operand)}`, inputs, conv, out, [operand], ['aten::silu(%r)', 'aten::mul.Tensor(%s0, %o0)'], left)
    check(t, `${name}, per pixel`, inputs, conv, out, [[1, 1, out[2]!, out[3]!]], ['aten::mul.Tensor(%r, %o0)', 'aten::relu(%s0)'], left)
  }
  check(
    t,
    'no batch',
    [[4, 8, 8], [6, 4, 3, 3], [6]],
    'aten::conv2d(%0, %1, %2, [1, 1], [1, 1], [1, 1], 1)',
    [6, 8, 8],
    [[6, 1, 1]],
    ['aten::hardswish(%r)', 'aten::add.Tensor(%s0, %o0, 1)'],
    ['ptlite::convolution +'],
  )
  check(
    t,
    '1d',
    [[2, 4, 30], [6, 4, 5], [6]],
    'aten::conv1d(%0, %1, %2, [1], [2], [1], 1)',
    [2, 6, 30],
    [[2, 6, 30]],
    ['aten::tanh(%r)', 'aten::mul.Tensor(%s0, %o0)'],
    ['ptlite::convolution +'],
  )
  t.end()
})

t.test('convolutions over channels in blocks', (t) => {
  const convolution = (stride: number, padding: number, strategy = 'direct', more = ''): string =>
    `convolution(input=%0, filter=%1, bias=%2, layout="blocks", strategy="${strategy}", ` +
    `stride=[${stride}, ${stride}], padding=[${padding}, ${padding}], dilation=[1, 1]${more})`
  const forms: readonly [string, string, number[], number[], number[], string?][] = [
    ['pointwise', convolution(1, 0), [1, 2, 9, 11, 16], [3, 1, 1, 20, 16], [1, 3, 9, 11, 16]],
    ['in strips', convolution(1, 0), [1, 1, 70, 71, 16], [3, 1, 1, 8, 16], [1, 3, 70, 71, 16]],
    ['3 x 3', convolution(1, 1), [1, 2, 5, 83, 16], [5, 3, 3, 24, 16], [1, 5, 5, 83, 16]],
    ['strided, two images', convolution(2, 1), [2, 1, 9, 12, 16], [2, 3, 3, 16, 16], [2, 2, 5, 6, 16]],
    ['few channels', convolution(2, 1), [1, 3, 21, 30], [2, 3, 3, 3, 16], [1, 2, 11, 15, 16]],
    [
      'depthwise',
      convolution(1, 1, 'depthwise', ', clamp=[-1., inf]'),
      [1, 2, 9, 70, 16],
      [2, 3, 3, 1, 16],
      [1, 2, 9, 70, 16],
      'blocked_depthwise',
    ],
    ['depthwise, short rows', convolution(2, 1, 'depthwise'), [2, 1, 7, 9, 16], [1, 3, 3, 1, 16], [2, 1, 4, 5, 16], 'blocked_depthwise'],
    ['winograd', convolution(1, 1, 'winograd'), [1, 2, 11, 18, 16], [36, 3, 20, 16], [1, 3, 11, 18, 16], 'winograd_convolution'],
  ]
  for (const [name, dense, x, filter, out, kernel = 'blocked_convolution'] of forms) {
    const [batch, blocks] = out as [number, number]
    const inputs = [x, filter, [blocks * 16]]
    const left = [`ptlite::${kernel} +`]
    check(t, `${name}, gelu, residual`, inputs, dense, out, [out], GELU_RESIDUAL, left)
    for (const operand of [[batch, blocks, 1, 1, 16], [1], ...(batch === 1 ? [[blocks, 1, 1, 16]] : [])])
      check(t, `${name}, silu, ${list(operand)}`, inputs, dense, out, [operand], ['aten::silu(%r)', 'aten::mul.Tensor(%s0, %o0)'], left)
  }
  // one vector for two images: neither of all planes nor of none
  const [, dense, x, filter, out] = forms[3]!
  const left = ['ptlite::blocked_convolution', 'aten::mul.Tensor']
  check(t, 'a vector for two images', [x, filter, [32]], dense, out, [[1, 2, 1, 1, 16]], ['aten::mul.Tensor(%r, %o0)'], left)
  t.end()
})

t.test('products', (t) => {
  check(
    t,
    'mm',
    [
      [30, 50],
      [50, 40],
    ],
    'aten::matmul(%0, %1)',
    [30, 40],
    [[40]],
    ['aten::mul.Scalar(%r, 0.125)', 'aten::add.Tensor(%s0, %o0, 1)'],
    ['ptlite::matmul +'],
  )
  check(
    t,
    'products of batches',
    [
      [3, 9, 20],
      [3, 20, 33],
    ],
    'aten::matmul(%0, %1)',
    [3, 9, 33],
    [[3, 9, 33]],
    ['aten::mul.Scalar(%r, 0.125)', 'aten::add.Tensor(%s0, %o0, 1)'],
    ['ptlite::matmul +'],
  )
  check(
    t,
    'one mask for the batch',
    [
      [3, 9, 20],
      [3, 20, 33],
    ],
    'aten::matmul(%0, %1)',
    [3, 9, 33],
    [[1, 9, 33]],
    ['aten::add.Tensor(%r, %o0, 1)'],
    ['ptlite::matmul +'],
  )
  t.end()
})

t.test('graphs of steps', (t) => {
  const inputs = [[6, 10], [40, 10], [40]]
  const linear = 'aten::linear(%0, %1, %2)'
  check(
    t,
    'the result used twice',
    inputs,
    linear,
    [6, 40],
    [[40]],
    ['aten::sigmoid(%r)', 'aten::mul.Tensor(%s0, %r)', 'aten::add.Tensor(%s1, %o0, 1)'],
    ['ptlite::linear +'],
  )
  check(
    t,
    'five operands are too many',
    inputs,
    linear,
    [6, 40],
    [[40], [6, 40], [1], [6, 1], [40]],
    [
      'aten::add.Tensor(%r, %o0, 1)',
      'aten::mul.Tensor(%s0, %o1)',
      'aten::add.Tensor(%s1, %o2, 1)',
      'aten::mul.Tensor(%s2, %o3)',
      'aten::sub.Tensor(%s3, %o4, 1)',
    ],
    ['aten::linear', 'ptlite::fused'],
  )
  // sums of doubles have no generated code
  check(t, 'sine', inputs, linear, [6, 40], [], ['aten::sin(%r)', 'aten::relu(%s0)'], null)
  t.end()
})

t.test('what others read stays', (t) => {
  const text = (rest: string): string => `input %0: float32[4, 8] @0
input %1: float32[6, 8] @1
%2: float32[4, 6] @2 = aten::linear(%0, %1, None)
${rest}`
  const left = (rest: string): string[] =>
    operators(postOps.run(parseGraph(text(rest), { constant: () => undefined, object: () => undefined })))
  t.same(left('%3: float32[4, 6] @3 = aten::tanh(%2)\nreturn %3\n'), ['ptlite::linear +'])
  t.same(left('%3: float32[4, 6] @3 = aten::tanh(%2)\nreturn (%2, %3)\n'), ['aten::linear', 'aten::tanh'], 'returned')
  t.same(
    left('%3: float32[4, 6] @3 = aten::mul.Tensor(%2, %2)\nreturn %3\n'),
    ['aten::linear', 'aten::mul.Tensor'],
    'read twice by one operator',
  )
  t.same(
    left('%3: float32[4, 6] @3 = aten::tanh(%2)\n%4: float32[6, 4] @2 = aten::t(%2)\nreturn (%3, %4)\n'),
    ['aten::linear', 'aten::tanh', 'aten::t'],
    'a view of it',
  )
  t.same(
    left('%3: float32[4, 6] @2 = aten::relu_(%2!)\n%4: float32[4, 6] @4 = aten::tanh(%2)\nreturn (%3, %4)\n'),
    ['aten::linear', 'aten::relu_', 'aten::tanh'],
    'written to',
  )
  t.same(
    left('%3: float32[2, 4, 6] @3 = aten::add.Tensor(%2, %5, 1)\nreturn %3\n'.replace('%5', '%2').replace('[2, 4, 6]', '[4, 6]')),
    ['aten::linear', 'aten::add.Tensor'],
    'added to itself',
  )
  t.end()
})

t.test('the later of two producers takes the steps', (t) => {
  const text = `input %0: float32[4, 8] @0
input %1: float32[6, 8] @1
%2: float32[4, 6] @2 = aten::linear(%0, %1, None)
%3: float32[4, 6] @3 = aten::linear(%0, %1, None)
%4: float32[4, 6] @4 = aten::add.Tensor(%2, %3, 1)
return %4
`
  const graph = parseGraph(text, { constant: () => undefined, object: () => undefined })
  const after = postOps.run(graph)
  verifyGraph(after)
  t.same(operators(after), ['aten::linear', 'ptlite::linear +'])
  const inputs = [random([4, 8]), random([6, 8])]
  t.same(bits(new GraphRunner(after).run(inputs, true) as Tensor), bits(new GraphRunner(graph).run(inputs, true) as Tensor))
  t.end()
})

again(t, import.meta.url, { ATEN_CPU_CAPABILITY: 'avx2' }, { PTLITE_JIT: '0' })

t.test('a convolution and what reads it', (t) => {
  const silu = `${CONV}%4: float32[1, 4, 6, 6] @4 = aten::silu(%3)\n`
  checkPass(t, postOps, `${silu}return %4\n`, ['ptlite::convolution +'])
  // what the product reads must be all that is read
  const square = `${silu}%5: float32[1, 4, 6, 6] @5 = aten::mul.Tensor(%4, %3)\nreturn %5\n`
  checkPass(t, postOps, square, ['aten::conv2d', 'aten::silu', 'aten::mul.Tensor'])
  t.end()
})
