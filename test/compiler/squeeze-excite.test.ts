import t from 'tap'
import { squeezeExcite } from '../../compiler/passes/lower/squeeze-excite.js'
import { HOST, passChecks, random } from './pass-checks.js'

/** 24 channels to 6 and back; the blocks of the input have 32 lanes. */
const { check } = passChecks({
  down: random([6, 24, 1, 1]),
  up: random([24, 6, 1, 1]),
  'down row': random([6, 24]),
  'up row': random([24, 6]),
  'down bias': random([6]),
  'up bias': random([24]),
})

const INPUT = 'input %0: float32[2, 2, 3, 5, 16] @0\n'
const CONVOLUTIONS = `constant %1: float32[6, 24, 1, 1] @1 = "down"
constant %2: float32[24, 6, 1, 1] @2 = "up"
constant %3: float32[6] @3 = "down bias"
constant %4: float32[24] @4 = "up bias"
`
const LINEAR_LAYERS = `constant %1: float32[6, 24] @1 = "down row"
constant %2: float32[24, 6] @2 = "up row"
`
const POINTWISE = '[1, 1], [0, 0], [1, 1], 1'
const LISTS = 'stride=[1, 1], padding=[0, 0], dilation=[1, 1]'
const MEAN = '%10: float32[2, 24, 1, 1] @10 = mean(input=%0, channels=24)\n'
const DOWN = `%11: float32[2, 6, 1, 1] @11 = aten::conv2d(%10, %1, %3, ${POINTWISE})\n`
const UP = `%13: float32[2, 24, 1, 1] @13 = aten::conv2d(%12, %2, %4, ${POINTWISE})\n`
const BLOCKS = 'float32[2, 2, 1, 1, 16]'
/** Lanes behind the last channel hold anything, so the result leaves them out. */
const leave = '%20: float32[2, 24, 3, 5] @20 = reorder(input=%15, to="planes", channels=24)\nreturn %20\n'
const ENDS = `%15: float32[2, 2, 3, 5, 16] @15 = aten::mul.Tensor(%0, %14)\n${leave}`

const GATED = ['ptlite::blocked_gates', 'aten::mul.Tensor', 'ptlite::from_blocked']

t.test('two pointwise convolutions', (t) => {
  for (const [activation, gate] of [
    ['relu', 'hardsigmoid'],
    ['silu', 'sigmoid'],
    ['hardswish', 'relu6'],
  ]) {
    const inner = `%12: float32[2, 6, 1, 1] @12 = aten::${activation}(%11)\n`
    const inBlocks = `%16: ${BLOCKS} @16 = reorder(input=%13, to="blocks", channels=24)\n%14: ${BLOCKS} @14 = aten::${gate}(%16)\n`
    const inPlanes = `%16: float32[2, 24, 1, 1] @16 = aten::${gate}(%13)\n%14: ${BLOCKS} @14 = reorder(input=%16, to="blocks", channels=24)\n`
    for (const outer of [inBlocks, inPlanes]) {
      check(t, squeezeExcite(HOST), INPUT + CONVOLUTIONS + MEAN + DOWN + inner + UP + outer + ENDS, GATED, 1e-5)
    }
  }
  t.end()
})

t.test('limits that a convolution applies itself', (t) => {
  const down = `%12: float32[2, 6, 1, 1] @11 = convolution(input=%10, filter=%1, layout="planes", strategy="product", ${LISTS}, clamp=[0., inf])\n`
  const outer = `%16: ${BLOCKS} @16 = reorder(input=%13, to="blocks", channels=24)\n%14: ${BLOCKS} @14 = aten::sigmoid(%16)\n`
  check(t, squeezeExcite(HOST), INPUT + CONVOLUTIONS + MEAN + down + UP + outer + ENDS, GATED, 1e-5)
  t.end()
})

t.test('linear layers between views', (t) => {
  const branch = `%11: float32[2, 24] @10 = aten::reshape(%10, [2, 24])
%12: float32[2, 6] @12 = aten::linear(%11, %1, None)
%13: float32[2, 6] @13 = aten::relu(%12)
%16: float32[2, 24] @16 = aten::linear(%13, %2, None)
%17: float32[2, 24] @17 = aten::sigmoid(%16)
%18: float32[2, 24, 1, 1] @17 = aten::reshape(%17, [2, 24, 1, 1])
%14: ${BLOCKS} @14 = reorder(input=%18, to="blocks", channels=24)
`
  check(t, squeezeExcite(HOST), INPUT + LINEAR_LAYERS + MEAN + branch + ENDS, GATED, 1e-5)
  t.end()
})

t.test('what else reads a part of the branch keeps it', (t) => {
  const inner = '%12: float32[2, 6, 1, 1] @12 = aten::relu(%11)\n'
  const outer = `%16: ${BLOCKS} @16 = reorder(input=%13, to="blocks", channels=24)\n%14: ${BLOCKS} @14 = aten::sigmoid(%16)\n`
  const sum = `%15: ${BLOCKS} @15 = aten::add.Tensor(%14, %16, 1)\n%17: float32[2, 24, 1, 1] @17 = reorder(input=%15, to="planes", channels=24)\nreturn %17\n`
  const text = INPUT + CONVOLUTIONS + MEAN + DOWN + inner + UP
  const left = ['ptlite::blocked_gates', 'aten::sigmoid', 'aten::add.Tensor', 'ptlite::from_blocked']
  check(t, squeezeExcite(HOST), text + outer + sum, left, 1e-5)
  const ops = ['ptlite::blocked_mean', 'aten::conv2d', 'aten::relu', 'aten::conv2d']
  check(t, squeezeExcite(HOST), `${text}return %13\n`, ops)
  const both = `%14: float32[2, 24, 1, 1] @14 = aten::add.Tensor(%13, %10, 1)\nreturn %14\n`
  check(t, squeezeExcite(HOST), text + both, [...ops, 'aten::add.Tensor'])
  t.end()
})
