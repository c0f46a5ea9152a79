import t from 'tap'
import { operandsOf } from '../../compiler/graph/node.js'
import { idleTaps } from '../../compiler/passes/canonical/idle-taps.js'
import { passChecks, random } from './pass-checks.js'

const { parse, check } = passChecks({
  signal: random([6, 4, 5]),
  three: random([6, 4, 3, 3]),
  volume: random([6, 4, 3, 3, 3]),
})

/** Runs the pass on one convolution, and returns the shape of the filter that is left. */
function filterLeft(name: string, sizes: string, filter: string, result: string, settings: string): readonly number[] {
  const dims = sizes.split(',').length - 2
  const text = `input %0: float32[${sizes}] @0
constant %1: float32[${filter}] @1 = "${name}"
%2: float32[${result}] @2 = aten::conv${dims}d(%0, %1, None, ${settings}, 1)
return %2
`
  const graph = check(t, idleTaps, text, [`aten::conv${dims}d`], 1e-6)
  const [, weight] = operandsOf(graph.nodes[0]!)
  return weight?.kind === 'value' ? graph.values.get(weight.id)!.type.shape : []
}

t.test('dilations that exceed the image', (t) => {
  const left = (settings: string, size = '16, 16'): readonly number[] =>
    filterLeft('three', `2, 4, ${size}`, '6, 4, 3, 3', `2, 6, ${size}`, settings)
  t.strictSame(left('[1, 1], [24, 24], [24, 24]'), [6, 4, 1, 1])
  t.strictSame(left('[1, 1], [16, 16], [16, 16]'), [6, 4, 1, 1])
  t.strictSame(left('[1, 1], [15, 15], [15, 15]'), [6, 4, 3, 3])
  t.strictSame(left('[1, 1], [9, 9], [9, 9]', '20, 8'), [6, 4, 3, 1])
  t.end()
})

t.test('one slice of a volume, and strides', (t) => {
  const left = (sizes: string, result: string, settings: string): readonly number[] =>
    filterLeft('volume', `1, 4, ${sizes}`, '6, 4, 3, 3, 3', `1, 6, ${result}`, settings)
  t.strictSame(left('1, 6, 7', '1, 6, 7', '[1, 1, 1], [1, 1, 1], [1, 1, 1]'), [6, 4, 1, 3, 3])
  t.strictSame(left('2, 6, 7', '1, 3, 4', '[2, 2, 2], [1, 1, 1], [1, 1, 1]'), [6, 4, 3, 3, 3])
  t.strictSame(filterLeft('signal', '3, 4, 2', '6, 4, 5', '3, 6, 2', '[1], [2], [1]'), [6, 4, 3])
  t.strictSame(filterLeft('signal', '3, 4, 1', '6, 4, 5', '3, 6, 1', '[3], [2], [1]'), [6, 4, 1])
  t.strictSame(filterLeft('signal', '3, 4, 4', '6, 4, 5', '3, 6, 2', '[5], [3], [1]'), [6, 4, 5])
  t.end()
})

t.test('without padding nothing is idle', (t) => {
  const graph = parse(`input %0: float32[2, 4, 3, 3] @0
constant %1: float32[6, 4, 3, 3] @1 = "three"
%2: float32[2, 6, 1, 1] @2 = aten::conv2d(%0, %1, None, [1, 1], [0, 0], [1, 1], 1)
return %2
`)
  t.equal(idleTaps.run(graph), graph)
  t.end()
})
