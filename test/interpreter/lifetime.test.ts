import t from 'tap'
import { runFunction } from '../../interpreter/run.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { empty, type Tensor } from '../../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../../runtime/tensor/value.js'
import { sharedTuples } from '../tensor/random-values.js'
import { assemble, operator, programOf } from './assemble.js'

const root = new ScriptObject('__torch__.M', ['state'], [null])
const made: Tensor[] = []
const make = operator('make', 0, () => {
  // a temporary beside the result, as composite operators leave
  made.push(empty([1024], DType.float32), empty([1024], DType.float32))
  return [made[made.length - 1]!]
})
const use = operator('use', 1, () => [1])
const useList = operator('use_list', 1, () => [1])

function live(code: string, operators = [make, use, useList]): { result: Value; alive: Tensor[] } {
  made.length = 0
  const fn = assemble({ code, operators, types: ['List[Tensor]'] })
  const result = runFunction(fn, [], { ...programOf(fn), root })
  return { result, alive: made.filter((x) => !x.isReleased) }
}

t.test('a temporary goes when its operator returns, an argument at its last use', async (t) => {
  t.same(live('OP 0\nOP 1\nRET').alive, [])
  t.same(live('OP 0\nSTORE 1\nLOAD 1\nOP 1\nDROP\nMOVE 1\nOP 1\nRET').alive, [])
  t.same(live('OP 0\nSTORE 1\nOP 0\nSTORE 1\nDROPR 1\nOP 0\nOP 1\nRET').alive, [])
})

t.test('elements of a list go with the operator that takes it', async (t) => {
  t.same(live('OP 0\nOP 0\nLIST_CONSTRUCT 0 2\nOP 2\nRET').alive, [])
  t.same(live('OP 0\nOP 0\nLIST_CONSTRUCT 0 2\nSTORE 1\nLOAD 1\nOP 2\nRET').alive, [])
})

t.test('results outlive the run, alone and in containers', async (t) => {
  const single = live('OP 0\nRET')
  t.same(single.alive, [single.result])
  const list = live('OP 0\nOP 0\nLIST_CONSTRUCT 0 2\nRET')
  t.same(list.alive, list.result)
  for (const x of list.alive) x.dispose()
})

t.test('attributes hold what was stored, and leave it to the garbage collector when it is overwritten', async (t) => {
  made.length = 0
  const object = new ScriptObject('__torch__.M', ['state'], [null])
  const fn = assemble({ code: 'STORE 1\nLOAD 1\nOP 0\nSET_ATTR 0\nLOADC 0\nRET', constants: [null], operators: [make] })
  const program = { ...programOf(fn), root: object }
  for (let i = 0; i < 5; i++) runFunction(fn, [object], program)
  const stored = made.filter((x) => !x.isReleased)
  t.equal(stored.length, 5)
  t.ok(stored.every(({ storage }) => storage.isWatched))
  t.equal(object.slots[0], stored[4])
})

t.test('objects that are filled one after the other while a module is read keep what they store', async (t) => {
  made.length = 0
  const fn = assemble({ code: 'STORE 1\nLOAD 1\nOP 0\nSET_ATTR 0\nLOADC 0\nRET', constants: [null], operators: [make] })
  const program = programOf(fn)
  const objects = [1, 2].map(() => new ScriptObject('__torch__.M', ['state'], [null]))
  for (const object of objects) runFunction(fn, [object], program)
  for (const { slots } of objects) t.notOk((slots[0] as Tensor).isReleased)
})

t.test('an error gives everything back', async (t) => {
  const fail = operator('fail', 1, () => {
    throw new Error('no')
  })
  made.length = 0
  t.throws(() => live('OP 0\nSTORE 1\nOP 0\nSTORE 2\nLOAD 1\nOP 3\nRET', [make, use, useList, fail]), { code: 'INTERNAL', message: /no/ })
  t.same(
    made.filter((x) => !x.isReleased),
    [],
  )
})

t.test('tensors in tuples that are shared on many ways, or nested deep, stay until the run ends', (t) => {
  const useTuple = operator('use_tuple', 1, () => [1])
  const pair = 'LOAD 1\nLOAD 1\nTUPLE_CONSTRUCT 2\nSTORE 1\nLOAD 1\nOP 2\nDROP\n'
  const wrapped = 'MOVE 1\nTUPLE_CONSTRUCT 1\nSTORE 1\nLOAD 1\nOP 2\nDROP\n'
  for (const [step, times] of [
    [pair, 60],
    [wrapped, 20_000],
  ] as const) {
    const code = `OP 0\nSTORE 1\n${step.repeat(times)}DROPR 1\nLOADC 0\nRET`
    made.length = 0
    const fn = assemble({ code, operators: [make, use, useTuple], constants: [null] })
    runFunction(fn, [], { ...programOf(fn), root })
    t.same(
      made.filter((x) => !x.isReleased),
      [],
    )
  }
  t.end()
})

t.test('results and arguments on many ways', (t) => {
  const shared = (): Value => sharedTuples(60, makeTensor())
  const makeTensor = (): Tensor => {
    made.push(empty([1024], DType.float32))
    return made.at(-1)!
  }
  made.length = 0
  const makeShared = operator('make_shared', 0, () => [shared()])
  const fn = assemble({ code: 'OP 0\nOP 1\nDROP\nSTORE 1\nMOVE 1\nOP 1\nRET', operators: [makeShared, use] })
  runFunction(fn, [shared()], { ...programOf(fn), root })
  t.same(
    made.map((x) => x.isReleased),
    [false, true],
    'what the caller gave stays',
  )
  made[0]!.dispose()
  t.end()
})
