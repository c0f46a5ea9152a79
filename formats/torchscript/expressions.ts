import { PtliteError } from '../../runtime/error.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { Value as Constant } from '../../runtime/tensor/value.js'
import type { Builder } from './builder.js'
import { callBinding } from './calls.js'
import { convert } from './convert.js'
import { Block, type Value } from './graph.js'
import { attributeOf } from './members.js'
import { moduleAt } from './module-containers.js'
import { callMethod, callOperator } from './operator-calls.js'
import { type Binding, Scope } from './scope.js'
import type { Expr } from './syntax.js'
import { BOOL, dictOf, INT, isSubtype, isTooLarge, isTuple, STR, TENSOR, tupleOfTypes, type Type, unify, withoutNone } from './types.js'

const BINARY: Readonly<Record<string, string>> = {
  '+': 'add', '-': 'sub', '*': 'mul', '/': 'div', '//': 'floordiv', '%': 'remainder', '**': 'pow', '@': 'matmul',
  '&': '__and__', '|': '__or__', '^': '__xor__', '<<': '__lshift__', '>>': '__rshift__',
  '==': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge', is: '__is__', 'is not': '__isnot__',
} // prettier-ignore
const UNARY: Readonly<Record<string, string>> = { '-': 'neg', '~': 'bitwise_not', not: '__not__' }

/** Names that every file knows. */
const SPECIAL: ReadonlySet<string> = new Set(
  (
    'annotate unchecked_cast uninitialized isinstance getattr hasattr int float bool complex str tuple print fork range len min max abs all any ' +
    'divmod sum list dict ord chr bin hex oct round pow sorted unchecked_unwrap_optional'
  ).split(' '),
)

/** Expressions in expressions, calls in calls. */
const MAX_LEVELS = 250

/** Reads the expressions of a function as nodes. */
export class Expressions {
  protected scope = new Scope()
  private level = 0

  constructor(readonly builder: Builder) {}

  get library(): Builder['library'] {
    return this.builder.library
  }

  /** Runs `read` one level deeper. */
  nested<T>(read: () => T): T {
    if (++this.level > MAX_LEVELS) throw this.builder.wrong(`code is nested more than ${MAX_LEVELS} deep`)
    const result = read()
    this.level--
    return result
  }

  /** The value of an expression, where `hint` is the type that is asked for, which literals go by. */
  value(expr: Expr, hint?: Type): Value {
    const binding = this.binding(expr, hint)
    if (binding.kind === 'value') return binding.value
    throw this.builder.wrong(binding.kind === 'lost' ? binding.why : `expected a value, found a ${binding.kind}`)
  }

  /** The value of an expression, converted to a type. */
  valueAs(expr: Expr, type: Type): Value {
    return this.converted(this.value(expr, type), type)
  }

  converted(value: Value, type: Type): Value {
    const found = convert(this.builder, type, value, true)
    if (!isSubtype(found.type, type)) throw this.builder.wrong(`expected ${type.text}, found ${found.type.text}`)
    // a constant has the type that it is used as
    return found.constant === undefined ? found : this.builder.constant(found.constant, type)
  }

  binding(expr: Expr, hint?: Type): Binding {
    return this.nested(() => {
      const before = this.builder.at
      this.builder.at = expr.at
      const binding = this.read(expr, hint)
      this.builder.at = before
      return binding
    })
  }

  private read(expr: Expr, hint: Type | undefined): Binding {
    if (expr.kind === 'name') return this.nameBinding(expr.name)
    if (expr.kind === 'attribute') return attributeOf(this, this.binding(expr.object), expr.name)
    if (expr.kind === 'call') return callBinding(this, this.binding(expr.callee), expr, hint)
    return { kind: 'value', value: this.plainValue(expr, hint) }
  }

  private nameBinding(name: string): Binding {
    const found = this.scope.find(name)
    if (found !== undefined) return found
    if (name === 'torch' || name === 'ops' || name === '__torch__' || name === 'CONSTANTS') return { kind: 'namespace', name }
    const number = name === 'inf' ? Infinity : name === 'nan' ? NaN : undefined
    if (number !== undefined) return { kind: 'value', value: this.builder.constant(new Float(number)) }
    if (SPECIAL.has(name)) return { kind: 'special', name }
    throw this.builder.wrong(`the name ${name} stands for nothing`)
  }

  private plainValue(expr: Expr, hint: Type | undefined): Value {
    const { builder } = this
    switch (expr.kind) {
      case 'constant':
        return builder.constant(expr.value)
      case 'tuple': {
        const wanted = hint === undefined ? undefined : withoutNone(hint)
        return builder.tuple(this.items(expr.items, (i) => (wanted !== undefined && isTuple(wanted) ? wanted.args[i] : undefined)))
      }
      case 'list':
        return this.listLiteral(expr.items, hint)
      case 'dict':
        return this.dictLiteral(expr.keys, expr.values, hint)
      case 'binary':
        return this.binaryOperation(expr.operator, expr.left, expr.right)
      case 'unary': {
        const operand = expr.operator === 'not' ? this.condition(expr.operand) : this.value(expr.operand)
        if (expr.operator === '+') return operand
        if (expr.operator === '-' && operand.constant instanceof Float) return builder.constant(new Float(-operand.constant.value))
        return callOperator(this, `aten::${UNARY[expr.operator]!}`, [operand])
      }
      case 'logical': {
        const left = this.condition(expr.left)
        const short = (): Value => builder.constant(expr.operator === 'or')
        const rest = (): Value => this.condition(expr.right)
        return expr.operator === 'or' ? this.choose(left, short, rest) : this.choose(left, rest, short)
      }
      case 'choice':
        return this.choose(
          this.condition(expr.condition),
          () => this.value(expr.then, hint),
          () => this.value(expr.other, hint),
        )
      case 'subscript':
        return this.subscript(this.value(expr.object), expr.items, hint)
      case 'comprehension':
        return this.comprehension(expr, hint)
      default:
        throw builder.wrong(`a ${expr.kind} cannot stand here`)
    }
  }

  /** Values of expressions in order; those with a star are the elements of a tuple. */
  items(exprs: readonly Expr[], hintOf: (i: number) => Type | undefined = () => undefined): Value[] {
    return exprs.flatMap((expr, i) =>
      expr.kind === 'starred' ? this.builder.unpackTuple(this.value(expr.value)) : [this.value(expr, hintOf(i))],
    )
  }

  private listLiteral(exprs: readonly Expr[], hint: Type | undefined): Value {
    const wanted = hint === undefined ? undefined : withoutNone(hint)
    const wantedElement = wanted?.kind === 'List' ? wanted.args[0] : undefined
    const items = this.items(exprs, () => wantedElement)
    if (items.length === 0) return wantedElement === undefined ? this.builder.openList() : this.builder.list(wantedElement, [])
    const element = wantedElement ?? this.commonType(items)
    return this.builder.list(
      element,
      items.map((item) => this.converted(item, element)),
    )
  }

  private dictLiteral(keys: readonly Expr[], values: readonly Expr[], hint: Type | undefined): Value {
    const wanted = hint === undefined ? undefined : withoutNone(hint)
    const [wantedKey, wantedValue] = wanted?.kind === 'Dict' ? wanted.args : []
    const items = keys.flatMap((key, i) => [this.value(key, wantedKey), this.value(values[i]!, wantedValue)])
    const empty = items.length === 0
    const key = wantedKey ?? (empty ? STR : this.commonType(items.filter((_, i) => i % 2 === 0)))
    const value = wantedValue ?? (empty ? TENSOR : this.commonType(items.filter((_, i) => i % 2 === 1)))
    const type = dictOf(key, value)
    return this.builder.add(
      { kind: 'DICT_CONSTRUCT', type: type.text },
      items.map((item, i) => this.converted(item, i % 2 === 0 ? key : value)),
      type,
    )
  }

  commonType(items: readonly Value[]): Type {
    let type = items[0]!.type
    for (const item of items) {
      const both = unify(type, item.type)
      if (both === undefined) throw this.builder.wrong(`values of different types in a list or dict: ${type.text} and ${item.type.text}`)
      type = both
    }
    if (isTooLarge(type)) throw this.builder.wrong('a type of too many parts')
    return type
  }

  /** Where it is `inPlace`, as `+=` is, lists and tensors are changed. */
  protected binaryOperation(operator: string, left: Expr, right: Expr, inPlace = false): Value {
    if (operator === 'in' || operator === 'not in') {
      const item = this.value(left)
      const found = callOperator(this, 'aten::__contains__', [this.value(right), item])
      return operator === 'in' ? found : callOperator(this, 'aten::__not__', [found])
    }
    const first = this.value(left)
    const changes = inPlace && (first.type === TENSOR || first.type.kind === 'List')
    return callOperator(this, `aten::${BINARY[operator]!}${changes ? '_' : ''}`, [first, this.value(right)])
  }

  /** The value of a condition: a bool. */
  condition(expr: Expr): Value {
    return this.asBool(this.value(expr))
  }

  asBool(value: Value): Value {
    return value.type === BOOL ? value : callOperator(this, 'aten::Bool', [value])
  }

  /** The value that one of two ways gives. */
  choose(condition: Value, then: () => Value, other: () => Value): Value {
    if (typeof condition.constant === 'boolean') return condition.constant ? then() : other()
    const node = this.builder.node({ kind: 'if' }, [condition])
    const values = [then, other].map((read) => {
      const block = new Block()
      const value = this.within(block, new Scope(this.scope), () => this.attempt(read, () => this.builder.unknown()))
      node.blocks.push(block)
      return value
    })
    const lost = node.blocks.map(({ lostAt }) => lostAt !== null)
    if (lost[0] === true && lost[1] === true) this.builder.lose()
    // a way that ends is never left with a value
    else lost.forEach((isLost, i) => isLost && (values[i] = this.builder.constant(null, values[1 - i]!.type)))
    const type = unify(values[0]!.type, values[1]!.type)
    if (type === undefined) throw this.builder.wrong(`values of different types: ${values.map((v) => v.type.text).join(' and ')}`)
    node.blocks.forEach((block, i) => block.results.push(values[i]!))
    return node.output(type)
  }

  /**
   * What `write` gives. In code that no path comes to, since each has ended in an operator that is missing, faults follow from what is not known: what was written
   * is taken back there, and `otherwise` says what stands for it.
   */
  protected attempt<T>(write: () => T, otherwise: () => T): T {
    const { builder, scope, level } = this
    const { block, at } = builder
    const before = block.lostAt === null ? null : block.nodes.length
    try {
      return write()
    } catch (error) {
      if (block.lostAt === null || !isFault(error)) throw error
      Object.assign(builder, { block, at })
      this.scope = scope
      this.level = level
      builder.rollBack(before ?? block.lostAt)
      return otherwise()
    }
  }

  /** Runs `write` for another block, with names of its own. */
  within<T>(block: Block, scope: Scope, write: () => T): T {
    const { builder } = this
    const before = { block: builder.block, scope: this.scope }
    if (builder.isLost) block.lostAt = block.nodes.length
    builder.block = block
    this.scope = scope
    const result = write()
    builder.block = before.block
    this.scope = before.scope
    return result
  }

  private subscript(object: Value, items: readonly Expr[], hint: Type | undefined): Value {
    const { builder } = this
    const item = items[0]
    if (items.length !== 1 || item === undefined) throw builder.unsupported('subscripts of several dimensions')
    const { type } = object
    if (item.kind === 'slice') return this.slice(object, item)
    if (isTuple(type)) return this.tupleIndex(object, this.value(item))
    if (type.kind === 'class') {
      const modules = this.library.findClass(type.text)
      if (modules !== undefined && !modules.methods.has('__getitem__')) return moduleAt(this, object, modules, this.value(item), hint)
      return callMethod(this, object, '__getitem__', [this.value(item)])
    }
    return callOperator(this, type === TENSOR ? 'aten::select' : 'aten::__getitem__', [
      object,
      ...(type === TENSOR ? [builder.constant(0)] : []),
      this.value(item),
    ])
  }

  private slice(object: Value, { start, stop, step }: Expr & { kind: 'slice' }): Value {
    const { builder } = this
    const [from, to, by] = [start, stop, step].map((part) => (part === null ? builder.constant(null) : this.value(part)))
    if (isTuple(object.type))
      return this.tupleSlice(
        object,
        [from!, to!, by!].map(({ constant }) => constant),
      )
    const last = by!.constant === null ? builder.constant(1) : by!
    return callOperator(this, 'aten::slice', [object, ...(object.type === TENSOR ? [builder.constant(0)] : []), from!, to!, last])
  }

  tupleIndex(tuple: Value, index: Value): Value {
    const { args } = tuple.type
    const { constant } = index
    if (constant === undefined) {
      const type = args.reduce<Type | undefined>((a, b) => (a === undefined ? undefined : unify(a, b)), args[0])
      if (type === undefined || index.type !== INT) throw this.builder.wrong('the index of a tuple is no constant')
      return this.builder.add({ kind: 'TUPLE_INDEX', index: null }, [tuple, index], type)
    }
    const at = typeof constant === 'number' && constant < 0 ? constant + args.length : constant
    const type = typeof at === 'number' ? args[at] : undefined
    if (type === undefined) throw this.builder.wrong(`a tuple of ${args.length} has no element ${String(constant)}`)
    const made = tuple.node
    if (made?.action.kind === 'TUPLE_CONSTRUCT') return made.inputs[at as number]!
    return this.builder.add({ kind: 'TUPLE_INDEX', index: at as number }, [tuple, this.builder.constant(at as number)], type)
  }

  private tupleSlice(tuple: Value, parts: readonly (Constant | undefined)[]): Value {
    const [start, stop, step] = parts
    const { args } = tuple.type
    const bound = (part: Constant | undefined, otherwise: number): number => {
      if (part === null) return otherwise
      if (typeof part !== 'number') throw this.builder.wrong('a tuple is sliced by constants only')
      return Math.min(Math.max(part < 0 ? part + args.length : part, 0), args.length)
    }
    if (step !== null && step !== 1) throw this.builder.unsupported('slices of tuples with steps')
    const from = bound(start, 0)
    const count = Math.max(bound(stop, args.length) - from, 0)
    return this.builder.add({ kind: 'TUPLE_SLICE', start: from, count }, [tuple], tupleOfTypes(args.slice(from, from + count)))
  }

  /** `[f(x) for x in list if condition]`; statements have loops, which overrides this. */
  protected comprehension(_expr: Expr & { kind: 'comprehension' }, _hint: Type | undefined): Value {
    throw this.builder.unsupported('comprehensions')
  }

  /** What `fork` runs; statements say how. */
  fork(_call: Expr & { kind: 'call' }): Value {
    throw this.builder.unsupported('fork')
  }

  /** What every list, dict or text is iterated by. */
  protected elementType(type: Type): Type {
    if (type.kind === 'List') return type.args[0]!
    if (type === STR) return STR
    if (type === TENSOR) return TENSOR
    throw this.builder.unsupported(`loops over ${type.text}`)
  }
}

/** What a file is refused for. */
function isFault(error: unknown): boolean {
  return error instanceof PtliteError && ['INVALID_FILE', 'UNSUPPORTED_FILE', 'MISSING_OPERATOR'].includes(error.code)
}
