import t from 'tap'
import { compileCall } from '../../compiler/compiled-call.js'
import type { Graph, GraphNode } from '../../compiler/graph/graph.js'
import { nameOf } from '../../compiler/graph/node.js'
import { checkedFirst } from '../../compiler/index-checks.js'
import { updates } from '../../compiler/passes/canonical/updates.js'
import { inputsToKeep } from '../../compiler/repeatable.js'
import { type Tensor, tensor } from '../../src/index.js'
import { parse } from './pass-weights.js'

/** Two caches at a position of their own each, which are written back at the end, as exporters have it. */
const CACHES = `input %0: float32[4, 2] @0
input %1: float32[3, 2] @1
input %2: int64[1] @2
input %3: int64[1] @3
input %4: float32[1, 2] @4
%10: float32[4, 2] @10 = aten::index_put(%0, [%2], %4, False)
%11: float32[4, 2] @11 = aten::neg(%10)
%12: int64[1] @12 = aten::add.Scalar(%3, 1, 1)
%13: float32[3, 2] @13 = aten::index_put(%1, [%12], %4, False)
%14: float32[3, 2] @14 = aten::neg(%13)
%15: float32[4, 2] @0 = aten::copy_(%0!, %10, False)
%16: float32[3, 2] @1 = aten::copy_(%1!, %13, False)
return (%11, %14)
`
const INDEXING = new Set(['aten::index_put', 'aten::index_put_', 'aten::index.Tensor'])
const mayFail = (node: GraphNode): boolean => INDEXING.has(nameOf(node))

/** Each node has a place of its own, as recordings have them. */
function graphOf(text: string): Graph {
  const graph = parse(text)
  return { ...graph, nodes: graph.nodes.map((node, pc) => ({ ...node, origin: { functionName: 'forward', pc } })) }
}

const names = ({ nodes }: Graph): string[] => nodes.map(nameOf)

t.test('indices are checked before the first write', (t) => {
  const recorded = graphOf(CACHES)
  const updated = updates.run(recorded)
  t.strictSame(inputsToKeep(updated, recorded, mayFail), [0, 1], 'the second may fail when the first has written')
  const checked = checkedFirst(updated)
  t.strictSame(names(checked), ['aten::add.Scalar', 'aten::index.Tensor', 'aten::index_put_', 'aten::neg', 'aten::index_put_', 'aten::neg'])
  t.strictSame(inputsToKeep(checked, recorded, mayFail), [])
  t.end()
})

t.test('one check is enough for the same index into as many elements', (t) => {
  const same = CACHES.replace('%1: float32[3, 2]', '%1: float32[4, 2]')
    .replaceAll('float32[3, 2]', 'float32[4, 2]')
    .replace('[%12]', '[%2]')
  const recorded = graphOf(same)
  const updated = updates.run(recorded)
  t.strictSame(names(checkedFirst(updated)), names(updated))
  t.strictSame(inputsToKeep(updated, recorded, mayFail), [])
  // of fewer elements it is another one
  const fewer = graphOf(CACHES.replace('[%12]', '[%2]'))
  t.strictSame(inputsToKeep(updates.run(fewer), fewer, mayFail), [0, 1])
  t.end()
})

t.test('an index that depends on what is written stays where it was', (t) => {
  const counted = graphOf(
    CACHES.replace('aten::add.Scalar(%3, 1, 1)', 'aten::add.Tensor(%3, %3, 1)').replace(
      '%11: float32[4, 2] @11 = aten::neg(%10)',
      '%11: float32[4, 2] @11 = aten::neg(%10)\n%17: int64[1] @3 = aten::copy_(%3!, %2, False)',
    ),
  )
  const updated = updates.run(counted)
  const at = (graph: Graph): number => names(graph).indexOf('aten::add.Tensor')
  t.ok(at(checkedFirst(updated)) > names(updated).indexOf('aten::index_put_'))
  t.ok(inputsToKeep(checkedFirst(updated), counted, mayFail).length > 0, 'what it held is kept')
  t.end()
})

t.test('a bad index leaves all caches as they were', (t) => {
  const recorded = graphOf(CACHES)
  const inputs = (first: bigint, second: bigint): Tensor[] => [
    tensor([1, 2, 3, 4, 5, 6, 7, 8], [4, 2]),
    tensor([1, 2, 3, 4, 5, 6], [3, 2]),
    tensor([first]),
    tensor([second]),
    tensor([-1, -2], [1, 2]),
  ]
  const { call } = compileCall(recorded, inputs(0n, 0n))
  t.equal(call.reason, null)
  const good = inputs(3n, -2n)
  call.run(good)
  t.strictSame(good.slice(0, 2).map((x) => [...x.data()]), [[1, 2, 3, 4, 5, 6, -1, -2], [1, 2, 3, 4, -1, -2]]) // prettier-ignore
  for (const [first, second] of [
    [1n, 2n],
    [4n, 0n],
    [-5n, 0n],
    [0n, -5n],
  ] as const) {
    const given = inputs(first, second)
    const before = given.map((x) => [...x.data()])
    t.throws(() => call.run(given), { code: 'INVALID_ARGUMENT', message: /index is out of range/ })
    t.strictSame(given.map((x) => [...x.data()]), before, `${first}, ${second}`) // prettier-ignore
  }
  call.dispose()
  t.end()
})

t.test('what counts on itself is put back', (t) => {
  const counting = graphOf(`input %0: float32[4, 2] @0
input %1: int64[1] @1
input %2: float32[1, 2] @2
%3: int64[1] @3 = aten::add.Scalar(%1, 1, 1)
%4: float32[4, 2] @4 = aten::index_put(%0, [%1], %2, False)
%5: float32[4, 2] @5 = aten::neg(%4)
%6: int64[1] @1 = aten::copy_(%1!, %3, False)
%7: float32[4, 2] @0 = aten::copy_(%0!, %4, False)
return %5
`)
  t.strictSame(inputsToKeep(updates.run(counting), counting, mayFail), [1], 'the counter alone, not the cache')
  const inputs = (): Tensor[] => [tensor([1, 2, 3, 4, 5, 6, 7, 8], [4, 2]), tensor([2n]), tensor([-1, -2], [1, 2])]
  const { call } = compileCall(counting, inputs())
  const given = inputs()
  for (let turn = 0; turn < 2; turn++) call.run(given)
  t.strictSame([...given[1]!.data()], [4n])
  const before = given.map((x) => [...x.data()])
  t.throws(() => call.run(given), { message: /index is out of range/ })
  t.strictSame(given.map((x) => [...x.data()]), before) // prettier-ignore
  call.dispose()
  t.end()
})
