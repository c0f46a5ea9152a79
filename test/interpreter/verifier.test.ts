import t from 'tap'
import { PtliteError } from '../../runtime/error.js'
import { OPCODES } from '../../program/opcodes.js'
import type { LinkedFunction, LinkedOperator } from '../../program/linked.js'
import { ArgumentUse } from '../../program/linked.js'
import { argumentCount, verifyFunction } from '../../program/verifier.js'
import { assemble, type Assembly } from './assemble.js'

function operator(given: number, returns: number, more: Partial<LinkedOperator> = {}): LinkedOperator {
  return {
    entry: null,
    qualifiedName: 'test::operator',
    call: () => undefined,
    given,
    defaults: null,
    outs: 0,
    use: ArgumentUse.read,
    vararg: false,
    returns,
    ...more,
  }
}

function verify(source: Assembly, others: readonly LinkedFunction[] = []): LinkedFunction {
  const fn = assemble(source)
  verifyFunction(fn, [fn, ...others])
  return fn
}

function refused(source: Assembly | string): string {
  try {
    verify(typeof source === 'string' ? { code: source } : source)
  } catch (error) {
    if (error instanceof PtliteError && error.code === 'INVALID_FILE') return error.message
    throw error
  }
  return 'accepted'
}

t.test('branches and loops', (t) => {
  verify({ code: 'LOADC 0\nRET', constants: [1] })
  verify({ code: 'STOREN 1 2\nLOAD 2\nJF 3\nLOAD 1\nJMP 2\nLOADC 0\nRET', registers: 2, constants: [1] })
  // trip count, maximum, condition and one carried value; the body negates the condition
  const loop = ['LOADC 0', 'LOADC 1', 'LOADC 2', 'LOADC 0', 'LOOP 6 3', 'STOREN 1 2', 'LOADC 2', 'LOAD 2', 'JMP -4', 'RET', 'RET']
  verify({ code: loop.join('\n'), registers: 2, constants: [0, 3, true] })
  const wrong = loop.with(7, 'LOADC 0\nLOAD 2').with(8, 'JMP -5')
  t.match(
    refused({ code: wrong.join('\n'), registers: 2, constants: [0, 3, true] }),
    /4 values are on the stack on one path and 5 on another/,
  )
  t.match(refused({ code: 'LOADC 0\nLOOP 1 1\nRET', constants: [1] }), /LOOP needs 2 values/)
  t.end()
})

t.test('operands out of range', (t) => {
  for (const [code, message] of [
    ['LOADC 0\nRET', /LOADC refers to 0; expected 0 to -1/],
    ['LOAD 5\nRET', /LOAD refers to 5; expected 1 to 4/],
    ['LOAD 0\nRET', /LOAD refers to 0; expected 1 to 4/],
    ['STOREN 4 2\nRET', /STOREN refers to 4; expected 1 to 3/],
    ['OP 0\nRET', /OP refers to 0/],
    ['JMP 1', /JMP refers to 1; expected 0 to 0/],
    ['JMP -1', /JMP refers to -1/],
    ['UN_INITIALIZED\nGET_ATTR -1\nRET', /GET_ATTR refers to -1/],
    ['UN_INITIALIZED\nGET_ATTR 70000\nRET', /GET_ATTR refers to 70000; expected 0 to 65535/],
    ['CALL 1\nRET', /CALL refers to 1/],
    ['CREATE_OBJECT 0\nRET', /CREATE_OBJECT refers to 0/],
    ['UN_INITIALIZED\nISINSTANCE 0 1\nRET', /ISINSTANCE refers to 0/],
    ['LIST_CONSTRUCT 0 0\nRET', /LIST_CONSTRUCT refers to 0/],
    ['TUPLE_CONSTRUCT -1\nRET', /TUPLE_CONSTRUCT refers to -1/],
    ['INTERFACE_CALL 0 1\nRET', /INTERFACE_CALL refers to 0/],
    ['FORK\nRET', /FORK does not occur in mobile modules/],
  ] as const) {
    t.match(refused(code), message, code)
  }
  t.match(refused({ code: 'UN_INITIALIZED\nINTERFACE_CALL 0 1\nRET', constants: [3] }), /not the name of a method/)
  t.match(refused({ code: 'INTERFACE_CALL 0 0\nRET', constants: ['go'] }), /not the name of a method of one of 0 values/)
  t.match(refused({ code: 'STOREN 1 3\nRET', registers: 2 }), /STOREN refers to 1; expected 1 to 0/)
  t.end()
})

t.test('opcodes that mobile files do not have', (t) => {
  for (const row of OPCODES) if (!row.runs) t.match(refused(`${row.name}\nRET`), /does not occur/, row.name)
  const fn = assemble({ code: 'RET' })
  fn.source.code[0] = 99
  t.throws(() => verifyFunction(fn, [fn]), { message: /opcode 99 does not occur/ })
  t.end()
})

t.test('stack depths', (t) => {
  t.match(refused('RET'), /expected one value on the stack at RET, found 0/)
  t.match(refused('UN_INITIALIZED\nUN_INITIALIZED\nRET'), /at RET, found 2/)
  t.match(refused('DROP\nUN_INITIALIZED\nRET'), /DROP takes 1 values; 0 are on the stack/)
  t.match(refused('UN_INITIALIZED'), /ends without RET/)
  t.match(refused('UN_INITIALIZED\nJF 2\nUN_INITIALIZED\nUN_INITIALIZED\nRET'), /on one path/)
  t.match(refused({ code: 'LIST_CONSTRUCT 0 1\nRET', types: ['List[int]'] }), /takes 1 values/)
  t.match(refused({ code: 'UN_INITIALIZED\nDICT_CONSTRUCT 0 1\nRET', types: ['Dict[int, int]'] }), /dict of 1 keys and values/)
  verify({ code: 'UN_INITIALIZED\nUN_INITIALIZED\nRAISE_EXCEPTION' })
  t.end()
})

t.test('operators', (t) => {
  const constants = [1]
  verify({ code: 'LOADC 0\nLOADC 0\nOP 0\nRET', constants, operators: [operator(2, 1)] })
  t.match(refused({ code: 'LOADC 0\nOP 0\nRET', constants, operators: [operator(2, 1)] }), /OP takes 2 values; 1 are on the stack/)
  const vararg = operator(0, 1, { vararg: true })
  verify({ code: 'LOADC 0\nLOADC 0\nOPN 0 2\nRET', constants, operators: [vararg] })
  t.match(refused({ code: 'OP 0\nRET', operators: [vararg] }), /takes any number of arguments/)
  t.match(refused({ code: 'LOADC 0\nOPN 0 1\nRET', constants, operators: [operator(2, 1)] }), /takes 2 arguments, OPN gives 1/)
  t.match(refused({ code: 'LOADC 0\nLOADC 0\nOP 0', constants, operators: [operator(1, 1, { ends: true })] }), /^accepted$/)
  t.end()
})

t.test('unpacked tuples get the number of values that are stored behind them', (t) => {
  const unpack = operator(1, -1, { qualifiedName: 'prim::TupleUnpack' })
  const fn = verify({ code: 'UN_INITIALIZED\nOP 0\nSTOREN 1 3\nLOAD 2\nRET', registers: 3, operators: [unpack] })
  t.equal(fn.source.code[3 + 2], 3)
  const single = verify({ code: 'UN_INITIALIZED\nOP 0\nRET', operators: [unpack] })
  t.equal(single.source.code[3 + 2], 1)
  t.match(refused({ code: 'UN_INITIALIZED\nOP 0\nSTOREN 1 3\nRET', registers: 3, operators: [unpack] }), /at RET, found 0/)
  t.end()
})

t.test('arguments of functions', (t) => {
  const callee = assemble({ code: 'STOREN 1 2\nLOAD 1\nRET', registers: 2 })
  t.equal(argumentCount(callee.source), 2)
  t.equal(argumentCount(assemble({ code: 'LOADC 0\nRET' }).source), 0)
  verify({ code: 'LOADC 0\nLOADC 0\nCALL 1\nRET', constants: [1] }, [callee])
  try {
    verify({ code: 'LOADC 0\nCALL 1\nRET', constants: [1] }, [callee])
    t.fail('expected an error')
  } catch (error) {
    t.match((error as Error).message, /CALL takes 2 values; 1 are on the stack/)
  }
  t.end()
})
