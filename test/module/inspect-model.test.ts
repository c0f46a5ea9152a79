import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { inspectModel, loadModule, type ModelGraph, Profiler, suggestInputs, type Tensor, tensor } from '../../src/index.js'

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const digits = path('examples/digits/digits.ptl')

function graphOf(graphs: readonly { method: string | null; graph: ModelGraph | null }[], method: string): ModelGraph {
  const found = graphs.find((g) => g.method === method)?.graph
  if (found === undefined || found === null) throw new Error(`no graph of ${method}`)
  return found
}

t.test('what a file holds, and what it computes from what', async (t) => {
  const report = await inspectModel(readFileSync(digits))
  t.match(report, { format: '.ptl', missing: [], compiled: null, className: '__torch__.Digits' })
  t.strictSame(
    report.methods.map(({ name }) => name),
    ['forward', 'logits'],
  )
  t.match(report.parameters[0], { name: 'features.0.weight', dtype: 'float32' })
  t.strictSame(structuredClone(report), report, 'it is plain data')
  const { nodes } = graphOf(report.graphs, 'forward')
  const at = nodes.findIndex(({ name }) => name === 'aten::conv2d')
  t.match(nodes[at], {
    parameters: ['features.0.weight'],
    args: [{ name: 'input', from: [at - 1], text: `%${at - 1}` }, { name: 'weight', from: [] }, {}, { name: 'stride', text: '[1, 1]' }],
  })
  t.strictSame([nodes[0]!.kind, nodes[0]!.name, nodes.at(-1)!.kind], ['input', 'pixels', 'output'])
  t.ok(nodes.every(({ args }, i) => args.every(({ from }) => from.every((n) => n >= 0 && n < i))))
})

t.test('both ways of a branch, and a loop', async (t) => {
  const { nodes } = graphOf((await inspectModel(path('test/fixtures/control.ptl'))).graphs, 'forward')
  const loop = nodes.findIndex(({ kind }) => kind === 'loop')
  t.equal(nodes[loop]!.args[1]!.from.length, 2, 'its condition is that of the start and of each round')
  const last = nodes.at(-1)!
  t.equal(last.kind, 'output')
  t.ok(last.args.at(-1)!.from.length > 0)
  t.ok(nodes.filter(({ kind }) => kind === 'branch').length > 1)
})

t.test('operators that are missing', async (t) => {
  // a flatbuffer has no checksums
  const bytes = Buffer.from(readFileSync(path('examples/digits/digits.ff')))
  const name = Buffer.from('aten::max_pool2d')
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) bytes.write('aten::max_qool2d', at)
  await t.rejects(loadModule(bytes), { code: 'MISSING_OPERATOR' })
  const report = await inspectModel(bytes)
  t.strictSame(report.missing, ['aten::max_qool2d'])
  const { nodes } = graphOf(report.graphs, 'forward')
  t.strictSame(
    nodes.filter(({ missing }) => missing).map((n) => n.name),
    ['aten::max_qool2d'],
  )
  await t.rejects(inspectModel(Buffer.from('no model')), { code: 'INVALID_FILE' })
})

t.test('a run is told apart by the same places', async (t) => {
  const model = await loadModule(digits)
  t.teardown(() => model.dispose())
  const x = tensor(new Uint8Array(64), [1, 1, 8, 8])
  const profiler = new Profiler()
  model.call('forward', [x], { profiler })
  const { nodes } = graphOf((await inspectModel(digits)).graphs, 'forward')
  const keyOf = (place: { function: string; instruction: number }): string => `${place.function} ${place.instruction}`
  const names = new Map(nodes.flatMap(({ name, place }) => (place === null ? [] : [[keyOf(place), name]])))
  for (const { name, place } of profiler.events) t.equal(names.get(keyOf(place!)), name)

  const recorded = model.graph('forward', [x])
  t.match(recorded.nodes[0], { kind: 'input', name: 'pixels', results: ['uint8[1, 1, 8, 8]'] })
  const conv = recorded.nodes.find(({ name }) => name === 'aten::conv2d')!
  t.match(conv, { parameters: ['features.0.weight'], results: [/^float32\[1, \d+, 8, 8\]$/] })
  t.equal(names.get(keyOf(conv.place!)), 'aten::conv2d')
  const optimized = model.graph('forward', [x], { optimized: true })
  t.ok(optimized.nodes.length < recorded.nodes.length)
  t.ok(optimized.nodes.some(({ name }) => name === 'convolution'))
  t.throws(() => model.graph('forward', [x], { optimised: true } as never), { code: 'INVALID_ARGUMENT' })
})

t.test('inputs to try a model with', async (t) => {
  const declared = await loadModule(path('examples/classify/shapes.pt2'))
  const suggested = suggestInputs(declared)!
  t.match(suggested.source, /declares/)
  t.equal(declared.forward<Tensor>(...suggested.args).shape[0], 1)
  declared.dispose()
  const guessed = await loadModule(path('examples/embed/model.ptl'))
  const guess = suggestInputs(guessed)
  if (guess !== null) t.ok(guessed.forward(...guess.args))
  guessed.dispose()
  const control = await loadModule(path('test/fixtures/control.ptl'))
  t.equal(suggestInputs(control), null)
  control.dispose()
})
