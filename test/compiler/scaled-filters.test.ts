import t from 'tap'
import { scaledFilters } from '../../compiler/passes/lower/scaled-filters.js'
import { callOperator, type Tensor } from '../../src/index.js'
import { HOST, passChecks, random } from './pass-checks.js'

const filter = (shape: number[]): Tensor => callOperator('ptlite::blocked_filter', [random(shape)]) as Tensor

const { check } = passChecks({ point: filter([24, 32, 1, 1]), three: filter([24, 32, 3, 3]) })

const POINT = 'constant %1: float32[2, 1, 1, 32, 16] @1 = "point"\n'
const THREE = 'constant %1: float32[2, 3, 3, 32, 16] @1 = "three"\n'

/** A factor per channel on an image, which a convolution reads. */
function text(size: number, { batch = 1, filter = POINT, padding = 0, swapped = false, rest = '' } = {}): string {
  const image = (id: number): string => `%${id}: float32[${batch}, 2, ${size}, ${size}, 16] @${id}`
  const operands = swapped ? '%2, %0' : '%0, %2'
  return `input ${image(0)}
input %2: float32[1, 2, 1, 1, 16] @2
${filter}${image(3)} = aten::mul.Tensor(${operands})
${image(4)} = convolution(input=%3, filter=%1, layout="blocks", strategy="direct", stride=[1, 1], padding=[${padding}, ${padding}], dilation=[1, 1], clamp=[0., inf])
${rest === '' ? 'return %4' : rest}
`
}

const SCALED = ['ptlite::blocked_scaled_filter', 'ptlite::blocked_convolution']
const LEFT = ['aten::mul.Tensor', 'ptlite::blocked_convolution']

t.test('a factor of what a pointwise convolution reads is one of its filter', (t) => {
  check(t, scaledFilters(HOST), text(9), SCALED, 1e-5)
  check(t, scaledFilters(HOST), text(9, { swapped: true }), SCALED, 1e-5)
  t.end()
})

t.test('it stays where the filter is larger, where images differ, and where neighbours are read', (t) => {
  check(t, scaledFilters(HOST), text(6), LEFT)
  check(t, scaledFilters(HOST), text(9, { batch: 2 }), LEFT)
  check(t, scaledFilters(HOST), text(9, { filter: THREE, padding: 1 }), LEFT)
  t.end()
})

t.test('it stays where something else reads the product', (t) => {
  const rest = '%5: float32[1, 2, 9, 9, 16] @5 = aten::add.Tensor(%3, %4, 1)\nreturn %5'
  check(t, scaledFilters(HOST), text(9, { rest }), [...LEFT, 'aten::add.Tensor'])
  t.end()
})
