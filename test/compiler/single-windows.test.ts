import t from 'tap'
import { singleWindows } from '../../compiler/passes/lower/single-windows.js'
import { passChecks, random } from './pass-checks.js'

const { check } = passChecks({
  pointwise: random([24, 20, 1, 1]),
  window: random([24, 20, 3, 2]),
  signal: random([24, 20, 5]),
  groups: random([20, 10, 1, 1]),
  bias: random([24]),
})

const constants = (name: string, shape: string): string =>
  `constant %1: float32[${shape}] @1 = "${name}"\nconstant %2: float32[24] @2 = "bias"\n`
const POINTWISE = `input %0: float32[2, 20, 1, 1] @0\n${constants('pointwise', '24, 20, 1, 1')}`
const RESULT = '%3: float32[2, 24, 1, 1] @3'
const LINEAR = ['aten::view', 'ptlite::linear', 'aten::view']

t.test('a convolution of single pixels', (t) => {
  check(t, singleWindows, `${POINTWISE}${RESULT} = aten::conv2d(%0, %1, %2, [1, 1], [0, 0], [1, 1], 1)\nreturn %3\n`, LINEAR, 1e-6)
  check(t, singleWindows, `${POINTWISE}${RESULT} = aten::conv2d(%0, %1, None, [2, 2], [0, 0], [1, 1], 1)\nreturn %3\n`, LINEAR, 1e-6)
  t.end()
})

t.test('filters as large as the image', (t) => {
  const text = `input %0: float32[2, 20, 3, 2] @0\n${constants('window', '24, 20, 3, 2')}`
  check(t, singleWindows, `${text}${RESULT} = aten::conv2d(%0, %1, %2, [1, 1], [0, 0], [1, 1], 1)\nreturn %3\n`, LINEAR, 1e-6)
  const signal = `input %0: float32[2, 20, 5] @0\n${constants('signal', '24, 20, 5')}`
  check(t, singleWindows, `${signal}%3: float32[2, 24, 1] @3 = aten::conv1d(%0, %1, %2, [1], [0], [1], 1)\nreturn %3\n`, LINEAR, 1e-6)
  t.end()
})

t.test('without a batch', (t) => {
  const text = `input %0: float32[20, 3, 2] @0\n${constants('window', '24, 20, 3, 2')}`
  check(
    t,
    singleWindows,
    `${text}%3: float32[24, 1, 1] @3 = aten::conv2d(%0, %1, %2, [1, 1], [0, 0], [1, 1], 1)\nreturn %3\n`,
    LINEAR,
    1e-6,
  )
  t.end()
})

t.test('limits and steps go along', (t) => {
  const lists = 'stride=[1, 1], padding=[0, 0], dilation=[1, 1]'
  const convolution = (more = ''): string =>
    `convolution(input=%0, filter=%1, bias=%2, layout="planes", strategy="product", ${lists}, clamp=[0., 6.]${more})`
  const limited = `${POINTWISE}${RESULT} = ${convolution()}\nreturn %3\n`
  check(t, singleWindows, limited, LINEAR, 1e-6)
  const steps = `${POINTWISE}${RESULT} = ${convolution(', post=([], [12], [0, -2], [0., 0.])')}\nreturn %3\n`
  check(t, singleWindows, steps, ['aten::view', 'ptlite::linear +', 'aten::view'], 1e-6)
  const operand = `input %0: float32[2, 20, 1, 1] @0\ninput %4: float32[2, 24, 1, 1] @4\n${constants('pointwise', '24, 20, 1, 1')}`
  const sum = `${operand}${RESULT} = ${convolution(', post=([%4], [29], [0, 1], [1., 1.])')}\nreturn %3\n`
  check(t, singleWindows, sum, ['ptlite::convolution +'])
  t.end()
})

t.test('what stays a convolution', (t) => {
  const several = `input %0: float32[2, 20, 1, 3] @0\n${constants('pointwise', '24, 20, 1, 1')}`
  check(t, singleWindows, `${several}%3: float32[2, 24, 1, 3] @3 = aten::conv2d(%0, %1, %2, [1, 1], [0, 0], [1, 1], 1)\nreturn %3\n`, [
    'aten::conv2d',
  ])
  const padded = `${POINTWISE}%3: float32[2, 24, 3, 3] @3 = aten::conv2d(%0, %1, %2, [1, 1], [1, 1], [1, 1], 1)\nreturn %3\n`
  check(t, singleWindows, padded, ['aten::conv2d'])
  const grouped = 'input %0: float32[2, 20, 1, 1] @0\nconstant %1: float32[20, 10, 1, 1] @1 = "groups"\n'
  const groups = `${grouped}%3: float32[2, 20, 1, 1] @3 = aten::conv2d(%0, %1, None, [1, 1], [0, 0], [1, 1], 2)\nreturn %3\n`
  check(t, singleWindows, groups, ['aten::conv2d'])
  t.end()
})
