import t from 'tap'
import type { GraphNode } from '../../compiler/graph/graph.js'
import { nameOf } from '../../compiler/graph/node.js'
import { updates } from '../../compiler/passes/canonical/updates.js'
import { inputsToKeep } from '../../compiler/repeatable.js'
import { parse } from './pass-weights.js'

const INPUTS = `input %0: float32[2, 6] @0
input %1: float32[2, 2] @1
input %2: int64[2] @2
input %3: float32[2, 6] @3
`
const PUT = '%4: float32[2, 6] @0 = aten::index_copy_(%0!, 1, %2, %1)\n'
const FAILING = new Set(['aten::index_copy_', 'aten::index_copy', 'aten::index_select'])
const isRepeatable = (...given: Parameters<typeof inputsToKeep>): boolean => inputsToKeep(...given).length === 0
const mayFail = (node: GraphNode): boolean => FAILING.has(nameOf(node))

/** Each node gets a place of its own, as recordings have them. */
function graphOf(lines: string, returned: string): ReturnType<typeof parse> {
  const graph = parse(`${INPUTS}${lines}return ${returned}\n`)
  return { ...graph, nodes: graph.nodes.map((node, pc) => ({ ...node, origin: { functionName: 'forward', pc } })) }
}

function repeats(lines: string, returned: string): boolean {
  const graph = graphOf(lines, returned)
  return isRepeatable(graph, graph, mayFail)
}

t.test('runs that can be repeated', (t) => {
  t.ok(repeats(`${PUT}%5: float32[2, 6] @5 = aten::neg(%4)\n`, '%5'), 'written in parts, then read')
  t.ok(repeats(`${PUT}%5: float32[2, 6] @0 = aten::index_copy_(%4!, 1, %2, %1)\n`, '%5'), 'in parts twice')
  t.ok(
    repeats('%4: float32[2, 6] @0 = aten::copy_(%0!, %3, False)\n%5: float32[2, 6] @0 = aten::add_.Scalar(%4!, 1, 1)\n', '%5'),
    'written over, and counted on',
  )
  t.notOk(repeats('%4: float32[2, 6] @0 = aten::add_.Scalar(%0!, 1, 1)\n', '%4'), 'counted')
  t.notOk(repeats(`%5: float32[2, 6] @5 = aten::neg(%0)\n${PUT}`, '(%4, %5)'), 'read before')
  t.notOk(
    repeats(`${PUT}%5: float32[2, 6] @5 = aten::neg(%4)\n%6: float32[2, 6] @0 = aten::index_copy_(%4!, 1, %2, %1)\n`, '(%5, %6)'),
    'read between',
  )
  t.notOk(
    repeats(`%4: float32[2] @0 = aten::select.int(%0, 1, 0)\n%5: float32[2] @0 = aten::copy_(%4!, %4, False)\n`, '%5'),
    'a part that is made of itself',
  )
  t.notOk(
    repeats(`%4: float32[2, 6] @0 = aten::copy_(%0!, %3, False)\n%5: float32[2, 6] @3 = aten::copy_(%3!, %4, False)\n`, '%5'),
    'two that are exchanged',
  )
  t.notOk(
    repeats(
      `%4: float32[2] @0 = aten::select.int(%0, 1, 0)\n%5: float32[2] @3 = aten::select.int(%3, 1, 0)\n%6: float32[2] @0 = aten::copy_(%4!, %5, False)\n%7: float32[2, 6] @0 = aten::add_.Scalar(%0!, 1, 1)\n`,
      '%7',
    ),
    'a part written over, and all of it counted on',
  )
  t.end()
})

t.test('what fails stands behind the writes that it stood behind', (t) => {
  const select = '%5: float32[2, 2] @5 = aten::index_select(%3, 1, %2)\n'
  const recorded = graphOf(`${select}${PUT}`, '(%4, %5)')
  t.ok(isRepeatable(recorded, recorded, mayFail))
  const later = { ...recorded, nodes: recorded.nodes.toReversed() }
  t.notOk(isRepeatable(later, recorded, mayFail), 'it would fail with something written that the interpreter does not write')
  t.ok(
    isRepeatable(later, recorded, (node) => nameOf(node) === 'aten::index_copy_'),
    'unless it cannot fail',
  )

  const update = '%4: float32[2, 6] @4 = aten::index_copy(%0, 1, %2, %1)\n'
  const copy = '%6: float32[2, 6] @0 = aten::copy_(%0!, %4, False)\n'
  for (const [lines, expected] of [
    [`${update}${copy}${select}`, true],
    [`${update}${select}${copy}`, false],
  ] as const) {
    const graph = graphOf(lines, '(%5, %6)')
    const after = updates.run(graph)
    t.equal(after.nodes.length, 2)
    t.equal(isRepeatable(after, graph, mayFail), expected, 'a copy that has become an update in place is a write at its own place')
  }
  t.end()
})
