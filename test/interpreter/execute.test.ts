import t from 'tap'
import { runFunction } from '../../interpreter/run.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import { assemble, type Assembly, operator, programOf } from './assemble.js'

const root = new ScriptObject('__torch__.M', [], [])

function run(source: Assembly, ...args: Value[]): Value {
  const fn = assemble(source)
  return runFunction(fn, args, { ...programOf(fn), root }, { maxIterations: 10_000 })
}

const add = operator('aten::add.int', 2, (a, b) => [(a as number) + (b as number)])

t.test('a loop carries its values and leaves with them', async (t) => {
  // sum of 0..n-1; LOOP has N+1 values on the stack: trip, maximum, condition, one carried value
  const source: Assembly = {
    code: `STOREN 1 2
      LOADC 0
      LOAD 2
      LOADC 1
      LOADC 0
      LOOP 7 3
      STOREN 3 2
      LOADC 1
      LOAD 4
      LOAD 3
      OP 0
      JMP -6
      RET`,
    constants: [0, true],
    operators: [add],
    registers: 5,
  }
  t.equal(run(source, root, 5), 10)
  t.equal(run(source, root, 0), 0)
})

t.test('branches take bools only', async (t) => {
  const source: Assembly = { code: 'STOREN 1 2\nLOAD 2\nJF 3\nLOADC 0\nRET\nLOADC 1\nRET', constants: ['yes', 'no'] }
  t.equal(run(source, root, true), 'yes')
  t.equal(run(source, root, false), 'no')
  t.throws(() => run(source, root, 1), { code: 'MODEL_ERROR' })
})

t.test('containers', async (t) => {
  t.same(run({ code: 'LOADC 0\nLOADC 1\nLIST_CONSTRUCT 0 2\nRET', constants: [1, 2], types: ['List[int]'] }), [1, 2])
  t.same((run({ code: 'LOADC 0\nLOADC 1\nTUPLE_CONSTRUCT 2\nRET', constants: [1, 2] }) as Tuple).items, [1, 2])
  const named = run({
    code: 'LOADC 0\nLOADC 1\nNAMED_TUPLE_CONSTRUCT 0 2\nRET',
    constants: [1, 2],
    types: ['__torch__.P[NamedTuple, [[x, int], [y, int]]]'],
  }) as Tuple
  t.same(named.fields, ['x', 'y'])
  const dict = run({
    code: 'LOADC 0\nLOADC 1\nDICT_CONSTRUCT 0 2\nRET',
    constants: [new Float(2), 'two'],
    types: ['Dict[float, str]'],
  })
  t.same(dict, new Map([[2, 'two']]))
  t.same((run({ code: 'LOADC 0\nTUPLE_SLICE 1 2\nRET', constants: [new Tuple([1, 2, 3])] }) as Tuple).items, [2, 3])
  t.equal(run({ code: 'LOADC 0\nLOADC 1\nTUPLE_INDEX\nRET', constants: [new Tuple([1, 2, 3]), -1] }), 3)
  t.throws(() => run({ code: 'LOADC 0\nLIST_UNPACK 3\nRET', constants: [[1, 2]] }), /expected a list of 3 values/)
  t.throws(() => run({ code: 'LOADC 0\nLOADC 1\nDICT_INDEX\nRET', constants: [new Map([['a', 1]]), 'b'] }), /KeyError: 'b'/)
})

t.test('attributes keep what a run stores in them', async (t) => {
  const object = new ScriptObject('__torch__.M', ['n'], [1])
  const fn = assemble({
    code: 'STOREN 1 1\nLOAD 1\nLOAD 1\nGET_ATTR 0\nLOADC 0\nOP 0\nSET_ATTR 0\nLOAD 1\nGET_ATTR 0\nRET',
    constants: [10],
    operators: [add],
  })
  const program = { ...programOf(fn), root: object }
  t.equal(runFunction(fn, [object], program), 11)
  t.equal(runFunction(fn, [object], program), 21)
  t.same(object.slots, [21])
})

t.test('isinstance, identity, exceptions, warnings', async (t) => {
  t.equal(run({ code: 'LOADC 0\nISINSTANCE 0 2\nRET', constants: [[1]], types: ['List[str]', 'List[int]'] }), true)
  t.equal(run({ code: 'LIST_CONSTRUCT 0 0\nISINSTANCE 1 1\nRET', types: ['List[str]', 'List[int]'] }), false)
  t.equal(run({ code: 'LOADC 0\nLOADC 0\n__IS__\nRET', constants: [null] }), true)
  t.throws(() => run({ code: 'LOADC 0\nLOADC 1\nRAISE_EXCEPTION\nRET', constants: ['bad size', 'builtins.ValueError'] }), {
    code: 'MODEL_ERROR',
    message: /builtins.ValueError: bad size[^]*__torch__.M.forward, instruction 2/,
  })
  const fn = assemble({ code: 'LOADC 0\nLOADC 1\nWARN 0\nLOADC 1\nRET', constants: ['careful', 2] })
  const program = programOf(fn)
  runFunction(fn, [], program)
  t.same(program.warnings, ['careful'])
})

t.test('interface calls find the method of the object', async (t) => {
  const callee = assemble({ name: '__torch__.A.twice', code: 'STOREN 1 2\nLOAD 2\nLOAD 2\nOP 0\nRET', operators: [add] })
  const caller = assemble({
    code: 'LOADC 0\nLOADC 1\nINTERFACE_CALL 2 2\nRET',
    constants: [new ScriptObject('__torch__.A', [], []), 21, 'twice'],
  })
  t.equal(runFunction(caller, [], programOf(caller, callee)), 42)
})

t.test('endless loops and recursion end in an error', async (t) => {
  t.throws(() => run({ code: 'JMP 0\nRET' }), /more loop iterations/)
  const fn = assemble({ code: 'CALL 0\nRET' })
  t.throws(() => runFunction(fn, [], programOf(fn)), { code: 'MODEL_ERROR', message: /1000 deep/ })
})
