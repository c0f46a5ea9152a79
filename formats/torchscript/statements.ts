import type { Builder } from './builder.js'
import { Expressions } from './expressions.js'
import { Block, Value } from './graph.js'
import { dropLost } from './lost.js'
import { callMethod, callOperator } from './operator-calls.js'
import { type Binding, Scope } from './scope.js'
import type { Expr, Stmt } from './syntax.js'
import { alwaysLeaves, assignedNames, leavesFunction } from './syntax-facts.js'
import { dictOf, INT, isSubtype, isTuple, listOf, STR, TENSOR, type Type, unify, UNKNOWN } from './types.js'

/** Iterations that a loop without a count may take. */
const UNLIMITED = 2n ** 63n - 1n

/** Writes the statements of a function as nodes. */
export class Statements extends Expressions {
  constructor(builder: Builder) {
    super(builder)
    for (const { name, type } of builder.unit.args) {
      const value = new Value(type)
      builder.block.params.push(value)
      this.scope.own.set(name, { kind: 'value', value, declared: type })
    }
  }

  /** The whole body: its block's result is what the function returns. */
  writeBody(): void {
    const { builder } = this
    const { unit } = builder
    const result = this.returning(unit.syntax.body()) ?? this.result(builder.constant(null))
    builder.block.results.push(result)
    dropLost(builder.block)
  }

  private result(value: Value): Value {
    const type = this.builder.unit.returns[0]!
    if (value.type.kind === 'unknown') return value
    return this.builder.isLost ? this.builder.constant(null, type) : this.converted(value, type)
  }

  /**
   * Statements at the end of a function, which may return in the middle: what follows an `if` that returns on one way is written behind the
   * other one. undefined where they do not return.
   */
  private returning(statements: readonly Stmt[]): Value | undefined {
    return this.nested(() => {
      for (let i = 0; i < statements.length; i++) {
        const statement = statements[i]!
        if (!leavesFunction(statement)) {
          this.statement(statement)
          continue
        }
        const rest = statements.slice(i + 1)
        return this.attempt(
          () => this.leaving(statement, rest),
          () => this.builder.unknown(),
        )
      }
      return undefined
    })
  }

  private leaving(statement: Stmt, rest: readonly Stmt[]): Value | undefined {
    const { builder } = this
    builder.at = statement.at
    if (statement.kind === 'return')
      return this.result(statement.value === null ? builder.constant(null) : this.value(statement.value, builder.unit.returns[0]))
    if (statement.kind === 'if') return this.returningIf(statement, rest)
    if (statement.kind === 'with' && alwaysLeaves(statement.body)) return this.withObjects(statement, () => this.returning(statement.body))
    throw builder.unsupported(`return in a ${statement.kind}`)
  }

  private returningIf(statement: Stmt & { kind: 'if' }, rest: readonly Stmt[]): Value {
    const { builder } = this
    const ways = [statement.then, statement.other]
    if (rest.length > 0 && !ways.some(alwaysLeaves)) throw builder.unsupported('an if that returns on some ways only, with more behind it')
    const condition = this.condition(statement.condition)
    const [then, other] = ways.map((way) => () => {
      const statements = alwaysLeaves(way) ? way : [...way, ...rest]
      return this.returning(statements) ?? this.result(builder.constant(null))
    })
    return this.choose(condition, then!, other!)
  }

  protected block(statements: readonly Stmt[]): void {
    this.nested(() => {
      for (const statement of statements) this.statement(statement)
    })
  }

  private statement(statement: Stmt): void {
    this.attempt(
      () => this.write(statement),
      () => {
        for (const name of assignedNames([statement])) this.scope.own.set(name, { kind: 'value', value: this.builder.unknown() })
      },
    )
  }

  private write(statement: Stmt): void {
    const { builder } = this
    builder.at = statement.at
    switch (statement.kind) {
      case 'assign':
        return this.assignment(statement)
      case 'augment': {
        const { target, operator, value } = statement
        return this.assign(target, { kind: 'value', value: this.binaryOperation(operator, target, value, true) })
      }
      case 'expression':
        this.binding(statement.value)
        return
      case 'if':
        return this.conditional(statement)
      case 'for':
        return this.loopOver(statement)
      case 'while':
        return this.loop(builder.constant(UNLIMITED, INT), statement.condition, statement.body, () => undefined)
      case 'with':
        this.withObjects(statement, () => this.block(statement.body))
        return
      case 'assert': {
        const { condition, message, at } = statement
        const error: Stmt = { kind: 'raise', at, error: message }
        return this.conditional({ kind: 'if', at, condition, then: [], other: [error] })
      }
      case 'raise':
        return this.raise(statement.error)
      case 'function':
        this.scope.own.set(statement.name, { kind: 'closure', body: statement.body })
        return
      case 'delete':
        for (const target of statement.targets) {
          if (target.kind !== 'subscript') throw builder.unsupported('del of anything but an element')
          callOperator(this, 'aten::Delete', [this.value(target.object), this.value(target.items[0]!)])
        }
        return
      case 'pass':
        return
      default:
        throw builder.unsupported(`a ${statement.kind} inside of a loop`)
    }
  }

  private raise(error: Expr | null): void {
    const { builder } = this
    const message = error?.kind === 'call' ? error.args[0] : error
    const text = message === null || message === undefined ? builder.constant('') : this.value(message)
    builder.node({ kind: 'RAISE_EXCEPTION' }, [text, builder.constant(null)])
  }

  // assignments

  private assignment({ targets, type, value }: Stmt & { kind: 'assign' }): void {
    if (type !== null) {
      const declared = this.library.typeOf(type, this.builder.unit.source)
      const binding: Binding = { kind: 'value', value: this.valueAs(value, declared), declared }
      for (const target of targets) this.assign(target, binding)
      return
    }
    const binding = this.binding(value, this.hintOf(targets[0]!))
    for (const target of targets) this.assign(target, binding)
  }

  /** The type that a variable was declared with, and that literals assigned to it are of. */
  private hintOf(target: Expr): Type | undefined {
    if (target.kind !== 'name') return undefined
    const known = this.scope.find(target.name)
    return known?.kind === 'value' ? known.declared : undefined
  }

  protected assign(target: Expr, binding: Binding): void {
    const { builder } = this
    switch (target.kind) {
      case 'name': {
        const before = this.scope.find(target.name)
        const declared = before?.kind === 'value' ? before.declared : undefined
        const keeps = binding.kind === 'value' && binding.declared === undefined && declared !== undefined
        this.scope.own.set(target.name, keeps && isSubtype(binding.value.type, declared) ? { ...binding, declared } : binding)
        return
      }
      case 'tuple':
      case 'list':
        return this.unpack(target.items, this.boundValue(binding))
      case 'attribute': {
        const object = this.value(target.object)
        const attribute = this.library.findClass(object.type.text)?.attributes.get(target.name)
        if (attribute === undefined) throw builder.wrong(`${object.type.text} has no attribute ${target.name}`)
        const value = this.converted(this.boundValue(binding), attribute.type)
        builder.node({ kind: 'SET_ATTR', slot: attribute.slot }, [object, value])
        return
      }
      case 'subscript': {
        const object = this.value(target.object)
        const [item] = target.items
        if (target.items.length !== 1 || item!.kind === 'slice' || object.type === TENSOR)
          throw builder.unsupported('assignments to slices and to elements of tensors')
        callOperator(this, 'aten::_set_item', [object, this.value(item!), this.boundValue(binding)])
        return
      }
      default:
        throw builder.wrong(`a ${target.kind} cannot be assigned to`)
    }
  }

  private boundValue(binding: Binding): Value {
    if (binding.kind === 'value') return binding.value
    throw this.builder.wrong(`expected a value, found a ${binding.kind}`)
  }

  private unpack(targets: readonly Expr[], value: Value): void {
    const { builder } = this
    let items: Value[]
    if (isTuple(value.type)) items = builder.unpackTuple(value)
    else if (value.type.kind === 'unknown') items = targets.map(() => value)
    else {
      const element = this.elementType(value.type)
      const list = value.type === TENSOR ? callOperator(this, 'aten::unbind', [value, builder.constant(0)]) : value
      const node = builder.node({ kind: 'LIST_UNPACK' }, [list])
      items = targets.map(() => node.output(element))
    }
    if (items.length !== targets.length) throw builder.wrong(`expected ${targets.length} values to unpack, found ${items.length}`)
    targets.forEach((target, i) => this.assign(target, { kind: 'value', value: items[i]! }))
  }

  // blocks

  private conditional({ condition: expr, then, other }: Stmt & { kind: 'if' }): void {
    const { builder } = this
    const condition = this.condition(expr)
    if (typeof condition.constant === 'boolean') return this.block(condition.constant ? then : other)
    const node = builder.node({ kind: 'if' }, [condition])
    const scopes = [then, other].map((statements) => {
      const block = new Block()
      node.blocks.push(block)
      const scope = new Scope(this.scope)
      this.within(block, scope, () => this.block(statements))
      return scope
    })
    const lost = node.blocks.map(({ lostAt }) => lostAt !== null)
    const ends = [then, other].map((way, i) => alwaysLeaves(way) || lost[i] === true)
    const isOver = ends.every(Boolean) && lost.includes(true)
    if (isOver) builder.lose()
    for (const name of new Set(scopes.flatMap((scope) => [...scope.own.keys()]))) {
      const ways = scopes.map((scope, i) => (lost[i] === true && !isOver ? undefined : scope.find(name)))
      const joined = this.joined(name, ways, ends, (values, type) => {
        values.forEach((value, i) => node.blocks[i]!.results.push(value))
        return node.output(type)
      })
      this.scope.own.set(name, joined)
    }
  }

  /** What a name stands for behind an `if`. */
  private joined(
    name: string,
    ways: readonly (Binding | undefined)[],
    ends: readonly boolean[],
    join: (values: readonly Value[], type: Type) => Value,
  ): Binding {
    const [a, b] = ways
    // a way that ends in an error is never left with a value
    if (a === undefined && ends[0] === true && b?.kind === 'value') return this.joined(name, [this.never(b.value.type), b], ends, join)
    if (b === undefined && ends[1] === true && a?.kind === 'value') return this.joined(name, [a, this.never(a.value.type)], ends, join)
    const [only] = a === undefined ? [b] : b === undefined ? [a] : []
    if (only !== undefined && ends[a === undefined ? 0 : 1] === true) return only
    if (a === undefined || b === undefined) return { kind: 'lost', why: `${name} has no value on one way to here` }
    if (a.kind !== 'value' || b.kind !== 'value') return a === b ? a : { kind: 'lost', why: `${name} is not the same on all ways to here` }
    if (a.value === b.value) return a
    const types = unify(a.declared ?? a.value.type, b.declared ?? b.value.type)
    if (types === undefined)
      return { kind: 'lost', why: `${name} is of type ${a.value.type.text} on one way to here, and ${b.value.type.text} on another` }
    const declared = a.declared ?? b.declared
    return { kind: 'value', value: join([a.value, b.value], types), declared: declared === undefined ? undefined : types }
  }

  /** What stands where no value comes. */
  private never(type: Type): Binding {
    return { kind: 'value', value: this.builder.constant(null, type) }
  }

  private loopOver({ target, source, body, at }: Stmt & { kind: 'for' }): void {
    const { builder } = this
    const isRange = source.kind === 'call' && source.callee.kind === 'name' && source.callee.name === 'range'
    const always: Expr = { kind: 'constant', at, value: true }
    if (isRange) {
      const args = this.items(source.args)
      if (args.length === 1) {
        return this.loop(this.converted(args[0]!, INT), always, body, (i) => this.assign(target, { kind: 'value', value: i }))
      }
      const [start, stop, step = builder.constant(1)] = args
      if (start === undefined || stop === undefined) throw builder.wrong('range() without arguments')
      const count = callOperator(this, 'aten::__range_length', [start, stop, step])
      return this.loop(count, always, body, (i) =>
        this.assign(target, { kind: 'value', value: callOperator(this, 'aten::__derive_index', [i, start, step]) }),
      )
    }
    const list = this.value(source)
    const items = list.type.kind === 'Dict' ? callOperator(this, 'aten::keys', [list]) : list
    this.loop(callOperator(this, 'aten::len', [items]), always, body, (i) =>
      this.assign(target, { kind: 'value', value: this.elementAt(items, i) }),
    )
  }

  private elementAt(items: Value, i: Value): Value {
    if (items.type === TENSOR) return callOperator(this, 'aten::select', [items, this.builder.constant(0), i])
    return callOperator(this, 'aten::__getitem__', [items, i])
  }

  /** A loop of at most `most` iterations. What its body assigns and was there before is carried from one iteration to the next. */
  private loop(most: Value, again: Expr, body: readonly Stmt[], begin: (i: Value) => void): void {
    const { builder } = this
    const carried = [...assignedNames(body)].flatMap((name) => {
      const binding = this.scope.find(name)
      return binding?.kind === 'value' ? [{ name, binding }] : []
    })
    // the condition is computed before the loop, and at the end of each iteration
    const node = builder.node({ kind: 'loop' }, [most, this.condition(again), ...carried.map(({ binding }) => binding.value)])
    const block = new Block()
    node.blocks.push(block)
    const i = new Value(INT)
    const scope = new Scope(this.scope)
    block.params.push(i)
    const types = carried.map(({ name, binding }) => {
      const type = binding.declared ?? binding.value.type
      const value = new Value(type)
      block.params.push(value)
      scope.own.set(name, { ...binding, value })
      return type
    })
    this.within(block, scope, () => {
      begin(i)
      this.block(body)
      if (builder.isLost) {
        block.results.push(builder.constant(false), ...block.params.slice(1))
        return
      }
      const condition = this.condition(again)
      const values = carried.map(({ name }, k) => this.carriedValue(name, scope.own.get(name)!, types[k]!))
      block.results.push(condition, ...values)
    })
    carried.forEach(({ name, binding }, k) => this.scope.own.set(name, { ...binding, value: node.output(types[k]!) }))
  }

  private carriedValue(name: string, binding: Binding, type: Type): Value {
    if (binding.kind !== 'value')
      throw this.builder.wrong(binding.kind === 'lost' ? binding.why : `${name} is assigned a ${binding.kind} in a loop`)
    if (!isSubtype(binding.value.type, type))
      throw this.builder.wrong(`${name} was ${type.text} before the loop, and is ${binding.value.type.text} at its end`)
    return binding.value
  }

  /** `with a as b:`: calls `__enter__` and `__exit__`. What an error skips, `__exit__` among it, does not run. */
  private withObjects<T>({ items, at }: Stmt & { kind: 'with' }, body: () => T): T {
    const objects = items.map(({ context, target }) => {
      const object = this.value(context)
      const entered = callMethod(this, object, '__enter__', [])
      if (target !== null) this.assign(target, { kind: 'value', value: entered })
      return object
    })
    const result = body()
    this.builder.at = at
    for (const object of objects.reverse()) {
      const none = this.builder.constant(null)
      callMethod(this, object, '__exit__', [none, none, none])
    }
    return result
  }

  /** What is forked runs at once, and gives its value. */
  override fork({ callee, args, keywords, at }: Expr & { kind: 'call' }): Value {
    const [first, ...rest] = args
    const binding = first === undefined ? undefined : this.binding(first)
    if (binding?.kind !== 'closure') return this.value({ kind: 'call', at, callee: first ?? callee, args: rest, keywords })
    const outer = this.scope
    this.scope = new Scope(outer)
    const result = this.closureResult(binding.body)
    this.scope = outer
    return result
  }

  private closureResult(body: readonly Stmt[]): Value {
    const last = body.at(-1)
    const isPlain = last?.kind === 'return' && !body.slice(0, -1).some(leavesFunction)
    if (!isPlain) throw this.builder.unsupported('a forked function that returns in the middle')
    this.block(body.slice(0, -1))
    return last.value === null ? this.builder.constant(null) : this.value(last.value)
  }

  protected override comprehension(expr: Expr & { kind: 'comprehension' }, hint: Type | undefined): Value {
    const { builder } = this
    const { key, element, loop, at } = expr
    const wanted = hint?.kind === 'List' || hint?.kind === 'Dict' ? hint : undefined
    const source = this.value(loop.source)
    // the type of the result is that of what the loop makes: it is written twice, once only to see
    const type = wanted ?? this.comprehensionType(key, element, loop.target, source)
    const result =
      type.kind === 'Dict' ? builder.add({ kind: 'DICT_CONSTRUCT', type: type.text }, [], type) : builder.list(type.args[0]!, [])
    const name = (part: string): string => `${part} of ${at}`
    const named = (part: string): Expr => ({ kind: 'name', at, name: name(part) })
    this.scope.own.set(name('result'), { kind: 'value', value: result })
    this.scope.own.set(name('source'), { kind: 'value', value: source })
    const step: Stmt =
      key === null
        ? {
            kind: 'expression',
            at,
            value: {
              kind: 'call',
              at,
              callee: { kind: 'attribute', at, object: named('result'), name: 'append' },
              args: [element],
              keywords: [],
            },
          }
        : { kind: 'assign', at, targets: [{ kind: 'subscript', at, object: named('result'), items: [key] }], type: null, value: element }
    const body: Stmt[] = loop.condition === null ? [step] : [{ kind: 'if', at, condition: loop.condition, then: [step], other: [] }]
    const outer = this.scope
    this.scope = new Scope(outer)
    this.loopOver({ kind: 'for', at, target: loop.target, source: named('source'), body })
    this.scope = outer
    return result
  }

  private comprehensionType(key: Expr | null, element: Expr, target: Expr, source: Value): Type {
    const type = (): Type => {
      const item = source.type.kind === 'Dict' ? source.type.args[0]! : this.elementType(source.type)
      this.assign(target, { kind: 'value', value: new Value(item) })
      const value = this.value(element).type
      if (key === null) return listOf(value)
      const keyType = this.value(key).type
      return dictOf(keyType, value)
    }
    return this.within(new Block(), new Scope(this.scope), () =>
      this.attempt(type, () => (key === null ? listOf(UNKNOWN) : dictOf(STR, UNKNOWN))),
    )
  }
}
