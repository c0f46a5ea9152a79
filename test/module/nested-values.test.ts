import t from 'tap'
import { ObjectTable } from '../../engine/background/object-table.js'
import type { Node } from '../../engine/background/nodes.js'
import { type Input, loadModule, type Module, type Output, PtliteError } from '../../src/index.js'
import { openSource } from '../../formats/containers/bytes.js'
import { loadModelFile } from '../../formats/read.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { deepList, randomGraph, sharedTuples } from '../tensor/random-values.js'
import { textByDefinition } from '../tensor/text-reference.js'
import { errorOf } from './fixtures.js'
import { type Instruction, type MethodSource, modelOf } from './model-writer.js'
import { p, pickle } from './pickle-writer.js'
import { zip } from './zip-writer.js'

/** A method of one argument, which is in register 2. */
function method(name: string, code: readonly Instruction[], operators: MethodSource['operators'] = []): MethodSource {
  const start: Instruction[] = [
    ['STOREN', 1, 2],
    ['DROPR', 1, 0],
  ]
  return { name, instructions: [...start, ...code, ['RET', 0, 0]], operators, constants: [null, 2], types: ['List[Any]'], registers: 3 }
}

const repeat = (times: number, ...code: Instruction[]): Instruction[] => new Array<Instruction[]>(times).fill(code).flat()
const LOAD: Instruction = ['LOAD', 2, 0]
const STORE: Instruction = ['STORE', 2, 0]
const model = modelOf([
  method('same', [['MOVE', 2, 0]]),
  method('pairs', [...repeat(60, LOAD, LOAD, ['TUPLE_CONSTRUCT', 2, 0], STORE), LOAD]),
  method('lists', [...repeat(60, LOAD, LOAD, ['LIST_CONSTRUCT', 0, 2], STORE), LOAD]),
  method('deep', [...repeat(5000, LOAD, ['LIST_CONSTRUCT', 0, 1], STORE), LOAD]),
  method('str', [LOAD, ['OP', 0, 0]], [['aten::str', 1]]),
  method('copy', [LOAD, ['OP', 0, 0]], [['aten::copy.t', 1]]),
  method('format', [['LOADC', 1, 0], LOAD, ['FORMAT', 2, 0]]),
  method('raise', [LOAD, ['LOADC', 0, 0], ['RAISE_EXCEPTION', 0, 0]]),
  method('warn', [LOAD, ['LOADC', 1, 0], ['WARN', 0, 0], LOAD]),
])

/** How many different arrays there are, from an outermost one on. */
function countArrays(output: unknown): number {
  const seen = new Set<unknown>()
  const pending = [output]
  while (pending.length > 0) {
    const next = pending.pop()
    if (!Array.isArray(next) || seen.has(next)) continue
    seen.add(next)
    for (const item of next as unknown[]) pending.push(item)
  }
  return seen.size
}

for (const compile of ['off', 'auto', 'eager'] as const) {
  t.test(`values in values, compile ${compile}`, async (t) => {
    const module = await loadModule(model, { compile })
    const calls: ((name: string, value: Input) => Output | Promise<Output>)[] = [
      (name, value) => module.call(name, [value]),
      (name, value) => module.call(name, [value]),
      (name, value) => module.run(name, [value]),
      (name, value) => module.run(name, [value]),
    ]
    for (const call of calls) {
      t.equal(countArrays(await call('pairs', 1.5)), 60)
      t.equal(countArrays(await call('lists', 1.5)), 60)
      t.equal(countArrays(await call('deep', 1.5)), 5000)
      t.equal(countArrays(await call('same', sharedTuples(60) as Input)), 60)
      t.equal(countArrays(await call('same', deepList(5000) as Input)), 5000)
      t.equal(countArrays(await call('copy', [sharedTuples(60) as Input])), 61)
      t.equal(((await call('str', deepList(5000) as Input)) as string).length, 10_001)
      await t.rejects(async () => call('str', sharedTuples(60) as Input), { code: 'LIMIT_EXCEEDED' })
      await t.rejects(async () => call('raise', sharedTuples(60) as Input), { code: 'MODEL_ERROR' })
    }
    module.dispose()
  })
}

t.test('values in themselves', async (t) => {
  const warnings: string[] = []
  const options = { compile: 'off', onWarning: (text: string): unknown => warnings.push(text) } as const
  const module: Module = await loadModule(model, options)
  const list = module.call('same', [[1, 'x']]) as Value[]
  list.push(new Tuple([list]))
  t.throws(() => module.call('same', [list as Input]), { code: 'INVALID_ARGUMENT' })
  module.dispose()
  t.end()
})

t.test('warnings and messages that are no texts', async (t) => {
  const warnings: string[] = []
  const module = await loadModule(model, { compile: 'off', onWarning: (text) => warnings.push(text) })
  for (const value of [sharedTuples(60), deepList(100_000), [sharedTuples(60)]] as Input[]) {
    try {
      module.call('warn', [value])
      t.ok(warnings.pop()!.length < 100)
    } catch (error) {
      if (!(error instanceof PtliteError) || error.code === 'INTERNAL') throw error
    }
    t.throws(() => module.call('format', [value]), PtliteError)
  }
  module.dispose()
})

t.test('values that cross threads', (t) => {
  const nowhere = (): Storage => Storage.borrow(0, 0, null)
  const values = [...Array.from({ length: 60 }, (_, i) => randomGraph(i, 1 + (i % 9), i % 2 === 0)), sharedTuples(20)]
  for (const value of values) {
    const [here, there] = [new ObjectTable(1, nowhere), new ObjectTable(-1, nowhere)]
    const nodes: Node[] = []
    const encoded = here.send(value, nodes)
    there.receive(structuredClone(nodes))
    if (value !== values.at(-1)) t.equal(textByDefinition(there.valueOf(encoded)), textByDefinition(value))
    t.ok(here.unchanged() && there.unchanged())
  }
  const [here, there] = [new ObjectTable(1, nowhere), new ObjectTable(-1, nowhere)]
  for (const value of [deepList(20_000), sharedTuples(60), new Array<Value>(300_000).fill(null)]) {
    const nodes: Node[] = []
    const encoded = here.send(value, nodes)
    there.receive(nodes)
    t.equal(countArrays([there.valueOf(encoded)]) > 1, Array.isArray(value))
    here.prune([])
    there.prune([])
  }
  t.end()
})

t.test('files that are small and describe much', (t) => {
  const tuple = (...items: readonly (readonly number[])[]): number[] => [p.mark, ...items, p.tuple].flat()
  const pair = (key: string, value: readonly number[]): number[] => [p.text(key), value, p.tuple2].flat()
  const archive = (bytecode: Buffer): Uint8Array =>
    zip([
      { name: 'm/version', data: Buffer.from('10') },
      { name: 'm/bytecode.pkl', data: bytecode },
      { name: 'm/data.pkl', data: pickle(p.global('__torch__', 'M'), p.emptyTuple, p.newObject, p.emptyDict, p.build) },
    ])
  const instruction = tuple(p.text('RET'), p.int(0), p.int(0))
  const code = tuple(
    pair('instructions', tuple(instruction, p.put(1), ...new Array<number[]>(5000).fill(p.get(1)))),
    pair('operators', tuple()),
    pair('constants', tuple()),
    pair('types', tuple()),
    pair('register_size', p.int(2)),
  )
  const fn = [...tuple(p.text('__torch__.M.forward'), code), ...p.put(0)]
  const many = archive(pickle(tuple(p.int(8), fn, ...new Array<number[]>(5000).fill(p.get(0)))))
  t.ok(many.length < 30_000)
  t.match(errorOf(() => loadModelFile(many)).message, /limits\.objects/)
  const one = archive(pickle(tuple(p.int(8), fn)))
  loadModelFile(one).close()
  t.match(errorOf(() => loadModelFile(openSource(one), {}, { limits: { objects: 5000 } })).message, /more than 5000 objects/)
  t.end()
})

t.test('options of loading', async (t) => {
  await t.rejects(loadModule(model, { limits: { objects: 100 } }), { code: 'INVALID_FILE', message: /more than 100 objects/ })
  await t.rejects(loadModule(model, { limits: { objects: -1 } }), { code: 'INVALID_ARGUMENT' })
  await t.rejects(loadModule(model, { limits: { things: 1 } as never }), { code: 'INVALID_ARGUMENT', message: /things/ })
  await t.rejects(loadModule(model, { limits: 5 as never }), { code: 'INVALID_ARGUMENT' })
  await t.rejects(loadModule(model, { verify: 1 as never }), { code: 'INVALID_ARGUMENT' })
  const module = await loadModule(model, { limits: { objects: 10 ** 6 }, verify: true })
  module.dispose()
})
