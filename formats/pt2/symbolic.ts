import type { GraphNode, ScalarKind } from './graph.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import { damaged, unsupported } from '../../program/file-error.js'
import { pushAny, typeOf } from './push.js'
import type { Scope } from './scope.js'

/** Python's functions on numbers that stand for sizes: `_operator.mul`, `math.trunc`, `torch.sym_max`. */
const SYMBOLIC = /^(?:_?operator|math|builtins|torch)\.(?:_?sym_)?(\w+)$/

export function isSymbolic(target: string): boolean {
  return SYMBOLIC.test(target)
}

const ARITHMETIC: Readonly<Record<string, string>> = {
  add: 'aten::add', iadd: 'aten::add', sub: 'aten::sub', isub: 'aten::sub', mul: 'aten::mul', imul: 'aten::mul', floordiv: 'aten::floordiv',
  mod: 'aten::remainder', max: 'prim::max', min: 'prim::min',
  eq: 'aten::eq', ne: 'aten::ne', lt: 'aten::lt', le: 'aten::le', gt: 'aten::gt', ge: 'aten::ge',
} // prettier-ignore

const BITWISE: Readonly<Record<string, string>> = {
  and_: 'aten::__and__', or_: 'aten::__or__', xor: 'aten::__xor__', lshift: 'aten::__lshift__', rshift: 'aten::__rshift__',
} // prettier-ignore

/** Of one number: a float, but for abs. */
const UNARY = new Set([
  'abs',
  'neg',
  'sqrt',
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'sinh',
  'cosh',
  'tanh',
  'exp',
  'log',
  'log2',
  'log10',
])
const ROUNDING = new Set(['floor', 'ceil'])

/** Writes a computation on symbolic numbers with the operators that TorchScript has for numbers. */
export function emitSymbolic(node: GraphNode, scope: Scope, builder: CodeBuilder): void {
  const name = SYMBOLIC.exec(node.target)![1]!
  const output = node.outputs[0]
  if (node.outputs.length !== 1 || output?.kind !== 'symbol') throw damaged('expected one symbolic number as output')
  const emitter = new SymbolicEmitter(node, scope, builder)
  const result = emitter.emit(name)
  convert(result, output.type, builder)
  scope.store(output.name, output.type)
}

class SymbolicEmitter {
  private readonly types: ScalarKind[]

  constructor(
    private readonly node: GraphNode,
    private readonly scope: Scope,
    private readonly builder: CodeBuilder,
  ) {
    this.types = node.inputs
      .flatMap(({ argument }) => (argument.kind === 'list' ? argument.items : [argument]))
      .map((argument) => {
        const type = typeOf(argument, scope)
        if (type !== 'int' && type !== 'float' && type !== 'bool') throw damaged(`expected numbers, found ${type}`)
        return type
      })
  }

  /** Leaves the result on the stack; says of what type. */
  emit(name: string): ScalarKind {
    const { builder, types } = this
    const [a, b] = types
    if (name === 'ite') return this.choose()
    if (name === 'sum') return this.sum()
    if (a === undefined) throw damaged('a function without arguments')
    if (b === undefined) return this.unary(name, a)
    if (types.length !== 2) throw damaged(`${types.length} arguments`)
    const isBitwise = Object.hasOwn(BITWISE, name)
    if (isBitwise && a === 'bool' && b === 'bool') {
      this.pushBoth(null)
      builder.operator(`${BITWISE[name]!}.bool`, 2)
      return 'bool'
    }
    if ((name === 'eq' || name === 'ne') && a === 'bool' && b === 'bool') {
      this.pushBoth(null)
      builder.operator(`aten::${name}.bool`, 2)
      return 'bool'
    }
    if (isBitwise) {
      this.pushBoth('int')
      builder.operator(`${BITWISE[name]!}.int`, 2)
      return 'int'
    }
    if (name === 'truediv' || name === 'int_truediv') {
      this.pushBoth('float')
      builder.operator('aten::div.float', 2)
      return 'float'
    }
    const type = a === 'float' || b === 'float' ? 'float' : 'int'
    this.pushBoth(type)
    if (name === 'pow') {
      const isInt = type === 'int' && this.node.outputs[0]?.kind === 'symbol' && this.node.outputs[0].type === 'int'
      builder.operator(isInt ? 'aten::pow.int_to_int' : `aten::pow.${type}`, 2)
      return isInt ? 'int' : 'float'
    }
    const operator = Object.hasOwn(ARITHMETIC, name) ? ARITHMETIC[name] : undefined
    if (operator === undefined) throw this.unknown()
    builder.operator(`${operator}.${type}`, 2)
    return /::(eq|ne|lt|le|gt|ge)$/.test(operator) ? 'bool' : type
  }

  private unary(name: string, type: ScalarKind): ScalarKind {
    const { builder } = this
    this.push(0)
    if (name === 'not' || name === 'not_') {
      convert(type, 'bool', builder)
      builder.emit('__NOT__')
      return 'bool'
    }
    if (name === 'float' || name === 'int') {
      convert(type, name, builder)
      return name
    }
    if (name === 'trunc') {
      convert(type, 'int', builder)
      return 'int'
    }
    if (name === 'pos') return type
    const number = type === 'bool' ? 'int' : type
    convert(type, number, builder)
    if (ROUNDING.has(name)) {
      builder.operator(`aten::${name}.${number}`, 1)
      return 'int'
    }
    if (!UNARY.has(name)) throw this.unknown()
    builder.operator(`${name === 'abs' ? 'prim' : 'aten'}::${name}.${number}`, 1)
    return name === 'abs' || name === 'neg' ? number : 'float'
  }

  private choose(): ScalarKind {
    const { builder, types } = this
    const [condition, a, b] = types
    if (types.length !== 3) throw damaged(`${types.length} arguments`)
    const type = a === b ? a! : a === 'float' || b === 'float' ? 'float' : 'int'
    // both are computed already
    const other = builder.label()
    const register = builder.allocate()
    this.push(1)
    convert(a!, type, builder)
    builder.emit('STORE', register)
    this.push(2)
    convert(b!, type, builder)
    this.push(0)
    convert(condition!, 'bool', builder)
    builder.jump('JF', other)
    builder.emit('DROP')
    builder.emit('LOAD', register)
    builder.place(other)
    builder.release(register)
    return type
  }

  private sum(): ScalarKind {
    const { builder, types } = this
    const type = types.includes('float') ? 'float' : 'int'
    const items = this.node.inputs.flatMap(({ argument }) => (argument.kind === 'list' ? argument.items : [argument]))
    if (items.length === 0) throw damaged('a sum of nothing')
    for (const [i, item] of items.entries()) {
      pushAny(item, this.scope, builder)
      convert(types[i]!, type, builder)
      if (i > 0) builder.operator(`aten::add.${type}`, 2)
    }
    return type
  }

  private push(index: number): void {
    pushAny(this.node.inputs[index]!.argument, this.scope, this.builder)
  }

  private pushBoth(type: ScalarKind | null): void {
    for (const index of [0, 1]) {
      this.push(index)
      if (type !== null) convert(this.types[index]!, type, this.builder)
    }
  }

  private unknown(): Error {
    return unsupported(`the function '${this.node.target}' of sizes is one that this runtime has not got`)
  }
}

/** Converts the number on top of the stack. */
function convert(from: ScalarKind, to: ScalarKind, builder: CodeBuilder): void {
  if (from === to) return
  const name = { int: 'Int', float: 'Float', bool: 'Bool' }[to]
  builder.operator(`aten::${name}.${from}`, 1)
}
