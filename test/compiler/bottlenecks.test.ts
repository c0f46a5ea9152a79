import t from 'tap'
import { bottlenecks } from '../../compiler/passes/lower/bottlenecks.js'
import { HOST, passChecks, random } from './pass-checks.js'

/** 16 channels to 32 and 24; images whose 32 channels take two second-level caches, and half a one. */
const WIDTH = 64
const [large, small] = [2, 0.5].map((caches) => Math.ceil((caches * HOST.caches.l2) / (32 * 4 * WIDTH))) as [number, number]

const { check } = passChecks({
  expand: random([2, 1, 1, 16, 16]),
  each: random([2, 3, 3, 1, 16]),
  wide: random([2, 4, 4, 1, 16]),
  project: random([2, 1, 1, 32, 16]),
  bias: random([32]),
})
const CONSTANTS = `constant %1: float32[2, 1, 1, 16, 16] @1 = "expand"
constant %2: float32[2, 3, 3, 1, 16] @2 = "each"
constant %3: float32[2, 1, 1, 32, 16] @3 = "project"
constant %4: float32[32] @4 = "bias"
constant %5: float32[2, 4, 4, 1, 16] @5 = "wide"
`

/** Text of a graph: lines for values with channels in `blocks` and rows of the image, from %10 on, the last of which is returned. */
function graph(rows: number, inputBlocks: number, lines: readonly (readonly [string, number, number?])[]): string {
  const body = lines.map(([text, blocks, divided = 1], i) => {
    const size = `${Math.ceil(rows / divided)}, ${WIDTH / divided}`
    return `%${10 + i}: float32[1, ${blocks}, ${size}, 16] @${10 + i} = ${text}\n`
  })
  return `input %0: float32[1, ${inputBlocks}, ${rows}, ${WIDTH}, 16] @0\n${CONSTANTS}${body.join('')}return %${9 + lines.length}\n`
}

const convolution = (from: number, filter: number, settings: string): string =>
  `convolution(input=%${from}, filter=%${filter}, layout="blocks", dilation=[1, 1], ${settings})`
const POINTWISE = 'strategy="direct", stride=[1, 1], padding=[0, 0]'
const depthwiseBy = (from: number, filter: number, stride: number): string =>
  convolution(from, filter, `bias=%4, strategy="depthwise", stride=[${stride}, ${stride}], padding=[1, 1], clamp=[0., inf]`)
const expand = (from: number): readonly [string, number] => [convolution(from, 1, `bias=%4, ${POINTWISE}, clamp=[0., 6.]`), 2]
const depthwise = (from: number): readonly [string, number] => [depthwiseBy(from, 2, 1), 2]
const project = (from: number, residual = 'None', divided = 1): readonly [string, number, number] => [
  convolution(from, 3, `residual=${residual}, ${POINTWISE}`),
  2,
  divided,
]
const step = (op: string, from: number): readonly [string, number] => [`aten::${op}(%${from})`, 2]

t.test('layers between which much lies', (t) => {
  check(t, bottlenecks(HOST), graph(large, 1, [expand(0), depthwise(10), project(11)]), ['ptlite::blocked_bottleneck'])
  const halved = depthwiseBy(10, 2, 2)
  check(t, bottlenecks(HOST), graph(large, 1, [expand(0), [halved, 2, 2], project(11, 'None', 2)]), ['ptlite::blocked_bottleneck'])
  check(t, bottlenecks(HOST), graph(large, 1, [expand(0), depthwise(10)]), ['ptlite::blocked_bottleneck'])
  check(t, bottlenecks(HOST), graph(large, 2, [depthwise(0), project(10)]), ['ptlite::blocked_bottleneck'])
  t.end()
})

t.test('gates and a residual', (t) => {
  const lines = [expand(0), step('silu', 10), depthwise(11), step('hardswish', 12), project(13), step('sigmoid', 14)]
  check(t, bottlenecks(HOST), graph(large, 1, lines), ['ptlite::blocked_bottleneck'])
  const sum = [depthwise(0), step('silu', 10), project(11, '%0')]
  check(t, bottlenecks(HOST), graph(large, 2, sum), ['ptlite::blocked_bottleneck'])
  t.end()
})

t.test('of layers that could be in two chains, most memory is saved', (t) => {
  const lines = [depthwise(0), project(10), depthwise(11), project(12)]
  check(t, bottlenecks(HOST), graph(large, 2, lines), ['ptlite::blocked_depthwise', 'ptlite::blocked_bottleneck'])
  t.end()
})

t.test('what stays', (t) => {
  const single = ['ptlite::blocked_convolution', 'ptlite::blocked_depthwise', 'ptlite::blocked_convolution']
  check(t, bottlenecks(HOST), graph(small, 1, [expand(0), depthwise(10), project(11)]), single)
  // others read what lies between
  const sum = (id: number): readonly [string, number] => [`aten::add.Tensor(%${id}, %12, 1)`, 2]
  const lines = [expand(0), depthwise(10), project(11)]
  check(t, bottlenecks(HOST), graph(large, 1, [...lines, sum(10)]), [
    'ptlite::blocked_convolution',
    'ptlite::blocked_bottleneck',
    'aten::add.Tensor',
  ])
  check(t, bottlenecks(HOST), graph(large, 1, [...lines, sum(11)]), [
    'ptlite::blocked_bottleneck',
    'ptlite::blocked_convolution',
    'aten::add.Tensor',
  ])
  // no kernel of four
  const four = depthwiseBy(10, 5, 2)
  check(t, bottlenecks(HOST), graph(large, 1, [expand(0), [four, 2, 2], project(11, 'None', 2)]), single)
  t.end()
})
