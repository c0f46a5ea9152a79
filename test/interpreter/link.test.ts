import t from 'tap'
import type { FunctionCode, OperatorName } from '../../program/code.js'
import { linkFunctions } from '../../program/link.js'

function code(method: string, ...operators: OperatorName[]): FunctionCode {
  const name = `__torch__.M.${method}`
  return {
    name,
    method,
    className: '__torch__.M',
    code: new Int32Array(),
    operators,
    constants: [],
    types: [],
    registerSize: 1,
    schema: null,
  }
}
const op = (name: string, overload = '', argCount = -1): OperatorName => ({ name, overload, argCount })

function errorOf(...codes: FunctionCode[]): Error & { code?: string } {
  try {
    linkFunctions(codes, 10, new Map())
  } catch (error) {
    return error as Error
  }
  throw new Error('linked')
}

t.test('every operator that a file lacks is named once, with what comes closest, whatever function needs it', (t) => {
  const error = errorOf(
    code('forward', op('aten::relu'), op('aten::add', 'Tensr'), op('mylib::frobnicate')),
    code('other', op('aten::sofmax', 'int'), op('mylib::frobnicate'), op('aten::reluu')),
  )
  t.match(error, { name: 'PtliteError', code: 'MISSING_OPERATOR' })
  const lines = error.message.split('\n')
  t.match(lines[0], /lacks 4 operators:$/)
  t.match(lines[1], /^ {2}aten::add\.Tensr \(there is aten::add(\.\w+)?, aten::add\.\w+, aten::add\.\w+, aten::add\.\w+\)$/)
  t.match(lines[2], /^ {2}aten::reluu \(there is aten::relu6?, /)
  t.match(lines[3], /^ {2}aten::sofmax\.int \(there is aten::softmax\.int/)
  t.match(lines[4], /^ {2}mylib::frobnicate$/)
  t.match(lines.slice(5).join(' '), /ptlite codegen --ops custom_ops\.yaml/)
  t.end()
})

t.test('an old meaning of an operator needs the operators that it is made of', (t) => {
  const [linked] = linkFunctions([code('forward', op('aten::div', 'Tensor', 2))], 3, new Map())
  t.equal(linked!.operators[0]!.qualifiedName, 'aten::div.Tensor')
  t.end()
})

t.test('arguments that a file gives or leaves out are those of the schema', (t) => {
  t.match(errorOf(code('forward', op('aten::relu', '', 2))), {
    code: 'INVALID_FILE',
    message: /aten::relu takes 1 arguments, the file gives 2/,
  })
  t.match(errorOf(code('forward', op('aten::add', 'Tensor', 1))), { code: 'INVALID_FILE', message: /leaves out argument 'other'/ })
  const [linked] = linkFunctions([code('forward', op('aten::add', 'Tensor', 2))], 10, new Map())
  t.same(linked!.operators[0]!.defaults, [1])
  t.end()
})
