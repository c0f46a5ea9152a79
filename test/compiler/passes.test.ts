import t, { type Test } from 'tap'
import { GraphRunner } from '../../compiler/graph/execute.js'
import type { Graph } from '../../compiler/graph/graph.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { activation } from '../../compiler/passes/activation.js'
import { batchNorm } from '../../compiler/passes/batch-norm.js'
import { constantFolding } from '../../compiler/passes/constant-folding.js'
import { copies } from '../../compiler/passes/copies.js'
import { deadCode } from '../../compiler/passes/dead-code.js'
import { elementwise } from '../../compiler/passes/elementwise.js'
import { functionalize } from '../../compiler/passes/functionalize.js'
import type { Pass } from '../../compiler/passes/pass.js'
import { type Tensor } from '../../runtime/tensor/tensor.js'
import { tensor } from '../../src/index.js'

let seed = 1
function random(shape: number[]): Tensor {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return (seed / 2 ** 32) * 4 - 1.5
  })
  return tensor(data, shape)
}

const WEIGHTS: Readonly<Record<string, Tensor>> = {
  conv: random([4, 3, 3, 3]),
  bias: random([4]),
  gamma: random([4]),
  mean: random([4]),
  linear: random([4, 8]),
  variance: tensor([0.5, 1, 1.5, 2], [4]),
}

function parse(text: string): Graph {
  const graph = parseGraph(text, { constant: (name) => WEIGHTS[name] })
  verifyGraph(graph)
  return graph
}

/** Operators of the graph, in order. */
const operators = (graph: Graph): string[] => graph.nodes.map((node) => node.op)

/** Checks which operators a pass leaves, and that outputs stay within `bound` of the largest value; with 0 they keep their bits. */
function check(t: Test, pass: Pass, text: string, left: string[], bound = 0): Graph {
  const before = parse(text)
  const after = pass.run(before)
  verifyGraph(after)
  t.strictSame(operators(after), left, printGraph(after))
  for (let run = 0; run < 2; run++) {
    const inputs = [...new Set(before.inputs)].map((id) => random([...before.values.get(id)!.type.shape]))
    const [want, got] = [before, after].map((graph) => new GraphRunner(graph).run(inputs, true) as Tensor)
    const [a, b] = [want!.data() as Float32Array, got!.data() as Float32Array]
    const scale = Math.max(...Array.from(a, Math.abs))
    const error = Math.max(...Array.from(a, (x, i) => Math.abs(x - b[i]!))) / scale
    t.ok(error <= bound, `off by ${error}`)
  }
  return after
}

const CONV = `input %0: float32[1, 3, 6, 6] @0
constant %1: float32[4, 3, 3, 3] @1 = "conv"
constant %2: float32[4] @2 = "bias"
%3: float32[1, 4, 6, 6] @3 = aten::conv2d(%0, %1, %2, [1, 1], [1, 1], [1, 1], 1)
`

t.test('dead code', (t) => {
  check(t, deadCode, 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::relu(%0)\n%2: float32[4] @2 = aten::sigmoid(%0)\nreturn %1\n', [
    'aten::relu',
  ])
  const written = `input %0: float32[2, 4] @0
%1: float32[2, 4] @1 = aten::clone(%0, None)
%2: float32[4] @1 = aten::select.int(%1, 0, 0)
%3: float32[4] @1 = aten::relu_(%2!)
return %1
`
  check(t, deadCode, written, ['aten::clone', 'aten::select.int', 'aten::relu_'])
  t.end()
})

t.test('functionalize', (t) => {
  const chain = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::sigmoid(%0)\n%2: float32[4] @1 = aten::relu_(%1!)\nreturn %2\n'
  check(t, functionalize, chain, ['aten::sigmoid', 'aten::relu'])
  const seen = chain.replace('return %2', '%3: float32[4] @2 = aten::add.Tensor(%1, %2, 1)\nreturn %3')
  check(t, functionalize, seen, ['aten::sigmoid', 'aten::relu_', 'aten::add.Tensor'])
  t.end()
})

t.test('redundant copies', (t) => {
  const text = 'input %0: float32[4] @0\n%1: float32[4] @1 = aten::clone(%0, None)\n%2: float32[4] @2 = aten::relu(%1)\nreturn %2\n'
  check(t, copies, text, ['aten::relu'])
  t.strictSame(
    operators(copies.run(parse(text.replace('return %2', 'return (%1, %2)')))),
    ['aten::clone', 'aten::relu'],
    'an output stays a tensor of its own',
  )
  t.end()
})

t.test('constant folding', (t) => {
  const text = `input %0: float32[2, 8] @0
constant %1: float32[4, 8] @1 = "linear"
%2: float32[8, 4] strides [1, 8] @1 = aten::t(%1)
%3: float32[8, 4] @2 = aten::sigmoid(%2)
%4: float32[2, 4] @3 = aten::mm(%0, %3)
return %4
`
  t.ok(parse(text))
  check(t, constantFolding, text.replace('[8, 4] @2', '[8, 4] strides [1, 8] @2'), ['aten::mm'])
  t.strictSame(
    operators(constantFolding.run(parse('constant %0: float32[4] @0 = "bias"\n%1: float32[4] @1 = aten::relu(%0)\nreturn %1\n'))),
    ['aten::relu'],
  )
  t.end()
})

t.test('batch norm', (t) => {
  const norm = `constant %4: float32[4] @4 = "gamma"
constant %5: float32[4] @5 = "mean"
constant %6: float32[4] @6 = "variance"
%7: float32[1, 4, 6, 6] @7 = aten::batch_norm(%3, %4, %2, %5, %6, False, 0.1, 1e-05, True)
return %7
`
  check(t, batchNorm, CONV + norm, ['aten::conv2d'], 1e-6)
  check(t, batchNorm, CONV.replace('%1, %2,', '%1, None,') + norm, ['aten::conv2d'], 1e-6)
  const both = CONV + norm.replace('return %7', '%8: float32[1, 4, 6, 6] @8 = aten::add.Tensor(%3, %7, 1)\nreturn %8')
  check(t, batchNorm, both, ['aten::conv2d', 'aten::batch_norm', 'aten::add.Tensor'])
  t.end()
})

t.test('activation', (t) => {
  for (const [call, at] of [
    ['aten::relu(%3)', '0., inf'],
    ['aten::relu6(%3)', '0., 6.'],
    ['aten::hardtanh(%3, -0.5, 0.5)', '-0.5, 0.5'],
    ['aten::clamp(%3, None, 0.25)', '-inf, 0.25'],
    ['aten::clamp_min(%3, 0.25)', '0.25, inf'],
  ]) {
    const after = check(t, activation, `${CONV}%4: float32[1, 4, 6, 6] @4 = ${call!}\nreturn %4\n`, ['ptlite::convolution'])
    t.match(printGraph(after), `${at!})`)
  }
  const twice = `${CONV}%4: float32[1, 4, 6, 6] @4 = aten::relu(%3)\n%5: float32[1, 4, 6, 6] @5 = aten::clamp(%4, -1, 0.5)\nreturn %5\n`
  check(t, activation, twice, ['ptlite::convolution'])
  const linear =
    'input %0: float32[2, 8] @0\nconstant %1: float32[4, 8] @1 = "linear"\n%2: float32[2, 4] @2 = aten::linear(%0, %1, None)\n%3: float32[2, 4] @3 = aten::relu(%2)\nreturn %3\n'
  // weights that are packed by their second use add in another order
  check(t, activation, linear, ['ptlite::linear'], 1e-6)
  t.end()
})

t.test('element-wise chains', (t) => {
  const text = `input %0: float32[2, 3, 5, 5] @0
input %1: float32[3, 1, 1] @1
%2: float32[2, 3, 5, 5] @2 = aten::add.Tensor(%0, %1, 1)
%3: float32[2, 3, 5, 5] @3 = aten::sigmoid(%2)
%4: float32[2, 3, 5, 5] @4 = aten::mul.Tensor(%0, %3)
%5: float32[2, 3, 5, 5] @5 = aten::clamp(%4, -0.25, 0.5)
return %5
`
  check(t, elementwise, text, ['ptlite::fused'])
  check(t, elementwise, text.replace('input %1: float32[3, 1, 1]', 'input %1: float32[5]'), ['ptlite::fused'])
  check(t, elementwise, text.replaceAll('[2, 3, 5, 5]', '[7, 3, 9, 31]'), ['ptlite::fused'])
  const split = `${text.replace('return %5\n', '')}%6: float32[2, 3, 5, 5] @6 = aten::div.Tensor(%5, %3)\nreturn %6\n`
  check(t, elementwise, split, ['ptlite::fused'])
  t.strictSame(operators(elementwise.run(parse(text.replace('return %5', 'return (%3, %5)')))), ['ptlite::fused', 'ptlite::fused'])
  for (const op of ['relu', 'tanh', 'neg', 'abs', 'square', 'exp', 'sin', 'cos', 'erf', 'silu', 'hardswish', 'hardsigmoid', 'reciprocal']) {
    const chain = `input %0: float32[5, 67] @0\n%1: float32[5, 67] @1 = aten::mul.Scalar(%0, 0.75)\n%2: float32[5, 67] @2 = aten::${op}(%1)\nreturn %2\n`
    check(t, elementwise, chain, ['ptlite::fused'])
  }
  t.end()
})

t.test('broken graphs are found', (t) => {
  const wrong = (text: string, message: RegExp): void => {
    t.throws(() => parse(text), { message })
  }
  wrong('%1: float32[4] @1 = aten::relu(%0)\nreturn %1\n', /%0 is not defined/)
  wrong('input %0: float32[4] @0\n%0: float32[4] @1 = aten::relu(%0)\nreturn %0\n', /defined twice/)
  wrong('input %0: float32[4] @0\n%1: float32[4] @0 = aten::relu_(%0!)\nreturn %1\n', /an input or constant/)
  wrong('input %0: float32[4] @0\n%1: float32[4] @1 = aten::relu(%0, 1)\nreturn %1\n', /expected 1 arguments/)
  wrong('input %0: float32[4] @0\n%1: float32[4] @1 = aten::nothing(%0)\nreturn %1\n', /no operator/)
  wrong('input %0: float32[4] @0\n', /ends with what it returns/)
  wrong('constant %0: float32[4, 4] @0 = "bias"\nreturn %0\n', /leaves its storage/)
  t.end()
})
