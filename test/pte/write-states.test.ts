import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { inspectModel, loadModule } from '../../src/index.js'
import { ptlite } from '../cli/in-process.js'
import { difference, inputOf } from '../pt2/fixtures.js'
import { type Call, fixturePath, readCalls } from './fixtures.js'

/* Programs that keep state, written as ExecuTorch's: buffers begin with data of the file, and are written to at the end of a call. */

const source = (name: string): string => fileURLToPath(new URL(`../fixtures/pte_states/${name}`, import.meta.url))
const callsOf = (name: string): Call[] => JSON.parse(readFileSync(source(`${name}.json`), 'utf8')) as Call[]

/** `--shape` for files that say nothing of sizes. */
const SHAPES: Readonly<Record<string, readonly string[]>> = {
  ring: ['1,3'],
  cache: ['1,1,3', 'int64:1'],
  parts: ['2'],
  cell: ['1,3'],
  counter: ['3'],
  position: ['1,1,3'],
  lists: ['1,3'],
  decay: ['3'],
  quotients: ['3'],
  turned: ['3'],
  ranges: ['3'],
  backwards: ['3'],
  fills: ['3'],
}

async function written(t: Test, model: string, name: string): Promise<string> {
  const output = join(t.testdir({}), 'out.pte')
  const shapes = model.endsWith('.pt2') ? [] : SHAPES[name]!.flatMap((shape) => ['--shape', shape])
  const { status, stderr } = await ptlite('convert', model, '-o', output, ...shapes)
  t.equal(status, 0, stderr)
  return output
}

for (const model of [
  'ring.pt2',
  'ring.pt',
  'cache.pt2',
  'cache.pt',
  'parts.pt2',
  'parts.pt',
  'cell.pt',
  'counter.pt',
  'decay.pt',
  'position.pt',
  'lists.pt',
  'quotients.pt',
  'turned.pt',
  'ranges.pt',
  'fills.pt',
]) {
  const name = model.split('.')[0]!
  await t.test(`${model} keeps its state`, async (t) => {
    const output = await written(t, source(model), name)
    for (const compile of ['off', 'auto', 'eager'] as const) {
      const module = await loadModule(output, { compile })
      for (const [turn, { args, result }] of callsOf(name).entries()) {
        const inputs = args.map(inputOf)
        const found = turn % 3 === 2 ? await module.run('forward', inputs) : module.call('forward', inputs)
        t.equal(difference(found, result), undefined, `call ${turn}, compile: '${compile}'`)
      }
      module.dispose()
    }
    t.equal((await ptlite('convert', output, '-o', output.replace('out.pte', 'again.ptl'))).status, 0)
    const again = output.replace('out.pte', 'again.pte')
    const { status, stderr } = await ptlite('convert', output, '-o', again)
    // a number that is a result is read in what the call computes
    if (['counter', 'decay', 'quotients'].includes(name))
      return void t.match(stderr, /aten::(Int|Float)\.Tensor reads the contents of a tensor/)
    t.equal(status, 0, stderr)
    const module = await loadModule(again)
    for (const { args, result } of callsOf(name))
      t.equal(difference(module.call('forward', args.map(inputOf)), result), undefined, 'written again')
    module.dispose()
  })
}

await t.test('buffers have names and first values', async (t) => {
  const output = await written(t, source('ring.pt2'), 'ring')
  const module = await loadModule(output)
  const parameters = module.parameters()
  t.strictSame(parameters.get('rows')?.toArray(), Array(4).fill([0.5, 0.5, 0.5]))
  t.strictSame(parameters.get('count')?.toArray(), [0])
  module.dispose()
  const { layout } = await inspectModel(output)
  t.ok(layout!.methods[0]!.operators.some(({ name }) => name === 'aten::copy_'))
})

await t.test('a place that is none is an error, and counts from the end where all of its rows do', async (t) => {
  const output = await written(t, source('backwards.pt'), 'backwards')
  for (const compile of ['off', 'eager'] as const) {
    const module = await loadModule(output, { compile })
    const calls = callsOf('backwards')
    for (const { args, result } of calls.slice(0, 2)) t.equal(difference(module.call('forward', args.map(inputOf)), result), undefined)
    // of which PyTorch takes no rows
    t.throws(() => module.call('forward', calls[2]!.args.map(inputOf)), { code: 'INVALID_ARGUMENT' })
    module.dispose()
  }
})

await t.test('what has no form is refused, saying why', async (t) => {
  const refused = async (model: string, pattern: RegExp): Promise<void> => {
    const { status, stderr } = await ptlite('convert', source(model), '-o', join(t.testdir({}), 'out.pte'), '--shape', '3')
    t.equal(status, 1)
    t.match(stderr, pattern)
  }
  await refused('stale.pt', /it reads a view of an attribute again after it has written to it/)
  await refused('growing.pt', /attribute 'rows' becomes a list or dict of another length or other keys/)
  await refused('branch.pt', /a number that outlives calls decides what it does \(aten::gt\.int\)/)
  await refused('texts.pt', /attribute 'text' changes and is no tensor or number/)
  await refused('shrinking.pt', /aten::slice\.Tensor from a number that outlives calls up to one that may be further from it/)
  await refused('steps.pt', /aten::arange\.start from a number that outlives calls up to one that may be further from it/)
  await refused('promoted.pt', /aten::mul_\.Tensor writes numbers of another dtype to an attribute/)
  await refused('compared.pt', /aten::lt_\.Scalar writes to an attribute/)
  await refused('twins.pt', /attributes that come to share memory are written to in place/)
  await refused('reset.pt', /attributes that come to share memory are written to in place/)
})

await t.test('numbers are buffers of one element', async (t) => {
  const module = await loadModule(await written(t, source('counter.pt'), 'counter'))
  const parameters = module.parameters()
  t.strictSame(
    ['steps', 'total', 'last'].map((name) => parameters.get(name)?.toArray()),
    [0, 3, 7],
  )
  module.forward(...callsOf('counter')[0]!.args.map(inputOf))
  t.strictSame(
    ['steps', 'total', 'last'].map((name) => parameters.get(name)?.toArray()),
    [1, 6, 5],
  )
  module.dispose()
})

await t.test('methods share what outlives their calls', async (t) => {
  const output = join(t.testdir({}), 'out.pte')
  const { status, stderr } = await ptlite('convert', fixturePath('shared.pte'), '-o', output)
  t.equal(status, 0, stderr)
  const { layout } = await inspectModel(output)
  const memories = new Map(layout!.methods.map(({ name, memories }) => [name, memories]))
  t.equal(memories.get('plain')?.length, 1, 'a method without state has a memory of its own alone')
  for (const name of ['push', 'read', 'scale'])
    t.equal(memories.get(name)?.[1], memories.get('push')?.[1], `${name} has the memory that all have`)
  for (const compile of ['off', 'auto', 'eager'] as const) {
    const module = await loadModule(output, { compile })
    for (const name of ['count', 'rows']) t.ok(module.parameters().has(name), name)
    for (const [turn, { method, args, result }] of readCalls('shared').calls.entries())
      t.equal(difference(module.call(method, args.map(inputOf)), result), undefined, `call ${turn}, compile: '${compile}'`)
    module.dispose()
  }
})
