import t, { type Test } from 'tap'
import type { Pass } from '../../compiler/passes/pass.js'
import { passesFor } from '../../compiler/passes/pipeline.js'
import { signals } from '../../compiler/passes/lower/signals.js'
import { tensor } from '../../src/index.js'
import { HOST, passChecks, random } from './pass-checks.js'

const { parse, check } = passChecks({
  first: random([32, 1, 5]),
  three: random([32, 32, 3]),
  each: random([32, 1, 3]),
  few: random([2, 32, 1]),
  bias: random([32]),
  column: random([32, 1]),
  variance: tensor(
    Array.from({ length: 32 }, (_, i) => 0.5 + i / 32),
    [32],
  ),
  space: random([32, 32, 1, 1, 3]),
})

const CONSTANTS = `constant %40: float32[32, 1, 5] @40 = "first"
constant %41: float32[32, 32, 3] @41 = "three"
constant %42: float32[32, 1, 3] @42 = "each"
constant %43: float32[2, 32, 1] @43 = "few"
constant %44: float32[32] @44 = "bias"
constant %45: float32[32, 1] @45 = "column"
constant %46: float32[32] @46 = "variance"
`
const WAVE = `input %0: float32[2, 1, 128] @0\n${CONSTANTS}`
const SIGNAL = `input %0: float32[2, 32, 64] @0\n${CONSTANTS}`
const line = (id: number, call: string, shape = '2, 32, 64'): string => `%${id}: float32[${shape}] @${id} = aten::${call}\n`
const conv = (id: number, from: number): string => line(id, `conv1d(%${from}, %41, %44, [1], [1], [1], 1)`)

/** The passes from this one on. */
const AFTER: Pass = {
  name: 'signals in blocks',
  run(graph) {
    const passes = passesFor(HOST)
    const first = passes.findIndex(({ name }) => name === signals(HOST).name)
    return passes.slice(first).reduce((current, pass) => pass.run(current), graph)
  },
}

/** Checks what this pass leaves, and what all passes from it on leave. */
function both(t: Test, text: string, left: string[], blocked: string[]): void {
  check(t, signals(HOST), text, left, 1e-6)
  check(t, AFTER, text, blocked, 1e-5)
}

t.test('a network from samples to means', (t) => {
  const text =
    WAVE +
    line(1, 'conv1d(%0, %40, %44, [2], [2], [1], 1)') +
    line(2, 'gelu(%1, "none")') +
    line(3, 'batch_norm(%2, %44, %44, %44, %46, False, 0.1, 1e-05, True)') +
    line(4, 'conv1d(%3, %42, None, [1], [1], [1], 32)') +
    line(5, 'prelu(%4, %44)') +
    line(6, 'mul.Tensor(%5, %45)') +
    line(7, 'max_pool1d(%6, [2], [], [0], [1], False)', '2, 32, 32') +
    line(8, 'avg_pool1d(%7, [3], [1], [1], False, True)', '2, 32, 32') +
    line(9, 'conv1d(%8, %41, %44, [1], [2], [2], 1)', '2, 32, 32') +
    line(10, 'cat([%9, %8], 1)', '2, 64, 32') +
    line(11, 'mean.dim(%10, [-1], False, None)', '2, 64') +
    'return %11\n'
  both(
    t,
    text,
    [
      'aten::unsqueeze',
      'aten::conv2d',
      'aten::gelu',
      'aten::batch_norm',
      'aten::conv2d',
      'aten::prelu',
      'aten::mul.Tensor',
      'aten::max_pool2d',
      'aten::avg_pool2d',
      'aten::conv2d',
      'aten::cat',
      'aten::mean.dim',
    ],
    [
      'aten::unsqueeze',
      'ptlite::blocked_convolution +',
      'ptlite::blocked_depthwise +',
      'ptlite::blocked_max_pool',
      'ptlite::blocked_avg_pool',
      'ptlite::blocked_convolution',
      'aten::cat',
      'ptlite::blocked_mean',
      'aten::reshape',
    ],
  )
  t.end()
})

t.test('sums and rows', (t) => {
  // the other operand is a signal from elsewhere, and the result is read as rows of channels
  const rows = '%4: float32[2, 64, 32] strides [2048, 1, 64] @3 = aten::transpose.int(%3, 1, 2)\n'
  const text = SIGNAL + conv(1, 0) + conv(2, 1) + line(3, 'add.Tensor(%0, %2, 1)') + rows
  const norm = '%5: float32[2, 64, 32] @5 = aten::layer_norm(%4, [32], None, None, 1e-05, True)\nreturn %5\n'
  both(
    t,
    text + norm,
    ['aten::unsqueeze', 'aten::conv2d', 'aten::conv2d', 'aten::add.Tensor', 'aten::squeeze.dim', 'aten::transpose.int', 'aten::layer_norm'],
    [
      'aten::unsqueeze',
      'ptlite::to_blocked',
      'ptlite::blocked_convolution',
      'ptlite::blocked_convolution',
      'ptlite::blocked_rows',
      'aten::reshape',
      'aten::layer_norm',
    ],
  )
  const pooled = SIGNAL + conv(1, 0) + line(2, 'adaptive_avg_pool1d(%1, [1])', '2, 32, 1') + 'return %2\n'
  check(t, signals(HOST), pooled, ['aten::unsqueeze', 'aten::conv2d', 'aten::adaptive_avg_pool2d', 'aten::squeeze.dim'], 1e-6)
  t.end()
})

t.test('what stays', (t) => {
  const stays = (text: string): void => {
    const graph = parse(text)
    t.equal(signals(HOST).run(graph), graph, text)
  }
  stays(SIGNAL + line(1, 'relu(%0)') + line(2, 'sigmoid(%1)') + 'return %2\n')
  stays(SIGNAL + line(1, 'conv1d(%0, %43, None, [1], [0], [1], 1)', '2, 2, 64') + 'return %1\n')
  const space = `input %0: float32[1, 32, 4, 5, 6] @0
constant %1: float32[32, 32, 1, 1, 3] @1 = "space"
%2: float32[1, 32, 4, 5, 6] @2 = aten::conv3d(%0, %1, None, [1, 1, 1], [0, 0, 1], [1, 1, 1], 1)
%3: float32[1, 32, 4, 5, 6] @3 = aten::relu(%2)
return %3
`
  stays(space)
  t.end()
})
