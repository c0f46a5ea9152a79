import { castGraph } from './autocast.js'
import { functionalized } from './functionalized.js'
import type { Argument, Graph, GraphNode } from './graph.js'
import type { CodeBuilder } from './code-builder.js'
import { damaged, unsupported } from '../../program/file-error.js'
import { pushAny, typeOf } from './push.js'
import { forEachName, type Place, Scope, type ValueKind } from './scope.js'
import type { MetaOf } from './tensor-meta.js'

const HIGHER_ORDER = /^torch\.ops\.higher_order\.(\w+)$/

/** The name of a higher-order operator; undefined for other targets. */
export function higherOrderName(target: string): string | undefined {
  return HIGHER_ORDER.exec(target)?.[1]
}

/** `map` that makes results without rows of inputs without rows, as torch.vmap does. */
export const MAP_ROWS = 'map_rows'

/** What writes the nodes of a graph, whose inputs are defined. */
export type EmitNodes = (scope: Scope) => void

/**
 * Writes a higher-order operator as jumps around the graphs in it. What is passed to a graph stays in its registers; the results of the graph have registers of
 * their own.
 */
export function emitHigherOrder(
  name: string,
  node: GraphNode,
  scope: Scope,
  builder: CodeBuilder,
  emitNodes: EmitNodes,
  metasOf: (graph: Graph) => MetaOf,
): void {
  const emitter = new HigherOrderEmitter(node, scope, builder, emitNodes)
  switch (name) {
    case 'cond':
      emitter.cond()
      break
    case 'while_loop':
      emitter.whileLoop()
      break
    case 'map':
    case 'map_impl':
      emitter.map()
      break
    case MAP_ROWS:
      emitter.map({ ofNone: true })
      break
    case 'scan':
      emitter.scan()
      break
    case 'wrap_with_autocast':
      emitter.autocast(metasOf)
      break
    case 'auto_functionalized':
    case 'auto_functionalized_v2':
      emitter.carryOut(functionalized(node, name.endsWith('_v2'), metasOf(scope.graph)))
      break
    default:
      if (!INLINED.has(name)) {
        const advice = 'ep.run_decompositions() may rewrite it'
        throw unsupported(`the higher-order operator '${name}' is one that this runtime has not got; ${advice}`)
      }
      emitter.inline()
  }
  // the uses that the node's arguments count for have been made
  for (const { argument } of node.inputs) forEachName(argument, (name) => scope.drop(name))
}

/** Operators that carry out the one graph that they have, with the operands behind it. */
const INLINED = new Set([
  'wrap_with_set_grad_enabled',
  'wrap',
  'strict_mode',
  'invoke_subgraph',
  'hints_wrapper',
  'tag_activation_checkpoint',
  'wrap_activation_checkpoint',
])

class HigherOrderEmitter {
  private readonly args: readonly Argument[]

  constructor(
    private readonly node: GraphNode,
    private readonly scope: Scope,
    private readonly builder: CodeBuilder,
    private readonly emitNodes: EmitNodes,
  ) {
    this.args = node.inputs.map(({ argument }) => argument)
  }

  inline(rewrite: (graph: Graph) => Graph = (graph) => graph): void {
    const at = this.args.findIndex(({ kind }) => kind === 'graph')
    const graph = rewrite(this.graphAt(at))
    const operands = this.args.slice(at + 1).flatMap(itemsOf)
    // of invoke_subgraph a name comes first, of hints_wrapper empty dicts and hints last
    const values = operands.filter((operand) => operand.kind !== 'dict')
    const taken = graph.inputs.length
    const first = values.length > taken && values[0]?.kind === 'constant' && values[0].type === 'str' ? 1 : 0
    this.storeOutputs(this.outputsOf(graph, values.slice(first, first + taken)), graph)
  }

  /** A graph whose inputs are called as they are around it. */
  carryOut(graph: Graph): void {
    this.storeOutputs(this.outputsOf(graph, graph.inputs), graph)
  }

  /** (device, dtype, whether it is on, whether casts are kept, graph, operands). That of other devices casts nothing here. */
  autocast(metasOf: (graph: Graph) => MetaOf): void {
    const [device, dtype, enabled] = this.args
    const isOn = device?.kind === 'constant' && device.value === 'cpu' && enabled?.kind === 'constant' && enabled.value === true
    const lower = dtype?.kind === 'enum' ? dtype.value : undefined
    this.inline((graph) => (isOn ? castGraph(graph, metasOf, lower) : graph))
  }

  cond(): void {
    const { builder, scope } = this
    const [condition, ...rest] = this.args
    const [yes, no] = [this.graphAt(1), this.graphAt(2)]
    const operands = rest.slice(2).flatMap(itemsOf)
    if (condition === undefined) throw damaged('a condition is missing')
    this.pushCondition(condition, scope)
    const [other, end] = [builder.label(), builder.label()]
    const results = this.outputs().map((output) => this.resultRegister(output))
    builder.jump('JF', other)
    this.branch(yes, operands, results)
    builder.jump('JMP', end)
    builder.place(other)
    this.branch(no, operands, results)
    builder.place(end)
    this.defineResults(results)
  }

  private branch(graph: Graph, operands: readonly Argument[], results: readonly number[]): void {
    const inner = this.outputsOf(graph, operands)
    this.checkCount(graph.outputs.length, results.length)
    for (const output of graph.outputs) pushAny(output, inner, this.builder)
    this.storeAll(results)
  }

  whileLoop(): void {
    const { builder, scope } = this
    const [test, body] = [this.graphAt(0), this.graphAt(1)]
    const carried = itemsOf(this.args[2] ?? { kind: 'none' })
    const additional = itemsOf(this.args[3] ?? { kind: 'list', items: [] })
    const outputs = this.outputs()
    this.checkCount(outputs.length, carried.length)
    this.checkCount(body.outputs.length, carried.length)
    const places = carried.map((item) => this.carriedPlace(item))
    const [top, end] = [builder.label(), builder.label()]
    builder.place(top)
    const tested = this.scopeOf(test, [...places, ...additional.map((item) => this.borrow(item))])
    this.emitNodes(tested)
    this.checkCount(test.outputs.length, 1)
    this.pushCondition(test.outputs[0]!, tested)
    builder.jump('JF', end)
    const inner = this.scopeOf(body, [...places, ...additional.map((item) => this.borrow(item))])
    this.emitNodes(inner)
    for (const output of body.outputs) pushAny(output, inner, builder)
    this.storeAll(places.map(({ register }) => register))
    builder.jump('JMP', top)
    builder.place(end)
    outputs.forEach((output, i) => {
      if (output.kind !== 'tensor' && output.kind !== 'symbol') builder.release(places[i]!.register)
      else if (scope.isUsed(output.name)) scope.define(output.name, { ...places[i]!, isOwn: true })
      else {
        scope.define(output.name, UNUSED)
        builder.emit('DROPR', places[i]!.register)
        builder.release(places[i]!.register)
      }
    })
  }

  map({ ofNone = false } = {}): void {
    const graph = this.graphAt(0)
    this.iterate(graph, [], itemsOf(this.args[1]!), itemsOf(this.args[2] ?? { kind: 'list', items: [] }), ofNone)
  }

  scan(): void {
    const graph = this.graphAt(0)
    const [, init, xs, additional] = this.args
    this.iterate(graph, itemsOf(init!), itemsOf(xs!), itemsOf(additional ?? { kind: 'list', items: [] }))
  }

  /**
   * A loop over the first dimension of `xs`; the graph makes new carried values, and rows that are stacked. With `ofNone`, where there are no rows, one of zeros
   * tells the shapes of the results, which have no rows either.
   */
  private iterate(graph: Graph, init: readonly Argument[], xs: readonly Argument[], additional: readonly Argument[], ofNone = false): void {
    const { builder } = this
    const outputs = this.outputs()
    this.checkCount(outputs.length, graph.outputs.length)
    if (xs.length === 0) throw damaged('a loop over nothing')
    const sources = xs.map((x) => this.source(x, ofNone))
    const carried = init.map((item) => this.carriedPlace(item))
    const index = builder.allocate()
    const lists = graph.outputs.slice(init.length).map(() => {
      const register = builder.allocate()
      builder.emit('LIST_CONSTRUCT', builder.type('Tensor'), 0)
      builder.emit('STORE', register)
      return register
    })
    const rows = xs.map(() => builder.allocate())
    builder.constant(0)
    builder.emit('STORE', index)
    const [top, end] = [builder.label(), builder.label()]
    builder.place(top)
    builder.emit('LOAD', index)
    sources[0]!.push()
    builder.constant(0)
    builder.operator('aten::size.int', 2)
    builder.operator('aten::lt.int', 2)
    builder.jump('JF', end)
    sources.forEach(({ push }, i) => {
      push()
      builder.constant(0)
      builder.emit('LOAD', index)
      builder.operator('aten::select.int', 3)
      builder.emit('STORE', rows[i]!)
    })
    const places: Place[] = [
      ...carried,
      ...rows.map((register) => borrowed(register, 'Tensor')),
      ...additional.map((item) => this.borrow(item)),
    ]
    const inner = this.scopeOf(graph, places)
    this.emitNodes(inner)
    for (const output of graph.outputs) pushAny(output, inner, builder)
    for (const list of [...lists].reverse()) {
      // the list comes before what is appended
      const item = builder.allocate()
      builder.emit('STORE', item)
      builder.emit('LOAD', list)
      builder.emit('MOVE', item)
      builder.operator('aten::append.t', 2)
      builder.emit('DROP')
      builder.release(item)
    }
    this.storeAll(carried.map(({ register }) => register))
    builder.emit('LOAD', index)
    builder.constant(1)
    builder.operator('aten::add.int', 2)
    builder.emit('STORE', index)
    builder.jump('JMP', top)
    builder.place(end)
    for (const register of rows) builder.emit('DROPR', register)
    for (const register of [index, ...rows]) builder.release(register)
    const results = [...carried.map(({ register }) => register)]
    for (const list of lists) {
      builder.emit('MOVE', list)
      builder.constant(0)
      builder.operator('aten::stack', 2)
      builder.emit('STORE', list)
      if (ofNone) this.withoutRows(list, xs[0]!)
      results.push(list)
    }
    for (const { own } of sources) {
      if (own === null) continue
      builder.emit('DROPR', own)
      builder.release(own)
    }
    this.defineResults(results)
  }

  /** What a loop takes its rows from; with `ofNone` a tensor of its own, of one row of zeros where there are none. */
  private source(x: Argument, ofNone: boolean): Source {
    const { builder, scope } = this
    if (x.kind !== 'tensor') throw damaged('a loop over what is no tensor')
    if (!ofNone) return { push: () => scope.peek(x.name), own: null }
    const own = builder.allocate()
    scope.peek(x.name)
    builder.emit('STORE', own)
    this.whereEmpty(x, () => {
      scope.peek(x.name)
      builder.constant([1])
      scope.peek(x.name)
      builder.operator('aten::size', 1)
      for (const value of [1, null, 1]) builder.constant(value)
      builder.operator('aten::slice.t', 4)
      builder.operator('aten::add.t', 2)
      builder.operator('aten::new_zeros', 2)
      builder.emit('STORE', own)
    })
    return { push: () => builder.emit('LOAD', own), own }
  }

  /** Takes the row of the result in `register` away where `x` has none. */
  private withoutRows(register: number, x: Argument): void {
    const { builder } = this
    this.whereEmpty(x, () => {
      builder.emit('MOVE', register)
      for (const value of [0, 0, 0, 1]) builder.constant(value)
      builder.operator('aten::slice.Tensor', 5)
      builder.emit('STORE', register)
    })
  }

  private whereEmpty(x: Argument, write: () => void): void {
    const { builder, scope } = this
    if (x.kind !== 'tensor') throw damaged('a loop over what is no tensor')
    const end = builder.label()
    scope.peek(x.name)
    builder.constant(0)
    builder.operator('aten::size.int', 2)
    builder.constant(0)
    builder.operator('aten::eq.int', 2)
    builder.jump('JF', end)
    write()
    builder.place(end)
  }

  /** A register of its own with the first value of what a loop carries. */
  private carriedPlace(item: Argument): Extract<Place, { kind: 'register' }> {
    const { builder, scope } = this
    const type = typeOf(item, scope)
    if (item.kind === 'tensor' || item.kind === 'symbol') scope.peek(item.name)
    else pushAny(item, scope, builder)
    const register = builder.allocate()
    builder.emit('STORE', register)
    return borrowed(register, type as ValueKind)
  }

  private pushCondition(condition: Argument, scope: Scope): void {
    const type = typeOf(condition, scope)
    if (condition.kind === 'tensor' || condition.kind === 'symbol') scope.peek(condition.name)
    else pushAny(condition, scope, this.builder)
    if (type === 'Tensor') this.builder.operator('aten::Bool.Tensor', 1)
    else if (type === 'int') this.builder.operator('aten::Bool.int', 1)
    else if (type !== 'bool') throw damaged(`expected a bool as condition, found ${type}`)
  }

  /** Writes a graph's nodes; its outputs can be pushed from the scope. */
  private outputsOf(graph: Graph, operands: readonly Argument[]): Scope {
    const inner = this.scopeOf(
      graph,
      operands.map((operand) => this.borrow(operand)),
    )
    this.emitNodes(inner)
    return inner
  }

  private scopeOf(graph: Graph, places: readonly Place[]): Scope {
    this.checkCount(graph.inputs.length, places.length)
    const inner = new Scope(graph, this.builder)
    graph.inputs.forEach((input, i) => {
      if (input.kind === 'tensor' || input.kind === 'symbol') inner.define(input.name, places[i]!)
    })
    return inner
  }

  /** The place of an operand, which the graph may read but not use up. */
  private borrow(operand: Argument): Place {
    if (operand.kind !== 'tensor' && operand.kind !== 'symbol') {
      const type = typeOf(operand, this.scope)
      return { kind: 'constant', argument: operand, type: type as ValueKind }
    }
    const place = this.scope.place(operand.name)
    return place.kind === 'register' ? { ...place, isOwn: false } : place
  }

  private storeOutputs(inner: Scope, graph: Graph): void {
    const outputs = this.outputs()
    this.checkCount(graph.outputs.length, outputs.length)
    for (const output of graph.outputs) pushAny(output, inner, this.builder)
    const results = outputs.map((output) => this.resultRegister(output))
    this.storeAll(results)
    this.defineResults(results)
  }

  private outputs(): Argument[] {
    return this.node.outputs.flatMap(itemsOf)
  }

  private resultRegister(output: Argument): number {
    if (output.kind !== 'tensor' && output.kind !== 'symbol' && output.kind !== 'none') throw damaged(`a result of the kind ${output.kind}`)
    return this.builder.allocate()
  }

  private storeAll(registers: readonly number[]): void {
    for (const register of [...registers].reverse()) this.builder.emit('STORE', register)
  }

  private defineResults(registers: readonly number[]): void {
    const { builder, scope } = this
    this.outputs().forEach((output, i) => {
      const register = registers[i]!
      if (output.kind !== 'tensor' && output.kind !== 'symbol') builder.release(register)
      else if (scope.isUsed(output.name))
        scope.define(output.name, { kind: 'register', register, type: output.kind === 'tensor' ? 'Tensor' : output.type, isOwn: true })
      else {
        scope.define(output.name, UNUSED)
        builder.emit('DROPR', register)
        builder.release(register)
      }
    })
  }

  private graphAt(index: number): Graph {
    const argument = this.args[index]
    if (argument?.kind !== 'graph') throw damaged(`expected a graph as argument ${index}`)
    return argument.graph
  }

  private checkCount(found: number, expected: number): void {
    if (found !== expected) throw damaged(`${found} values where ${expected} are expected`)
  }
}

/** What rows are taken from: pushed, and the register where that is of the loop alone. */
interface Source {
  readonly push: () => void
  readonly own: number | null
}

const UNUSED: Place = { kind: 'constant', argument: { kind: 'none' }, type: 'None' }

function borrowed(register: number, type: ValueKind): Extract<Place, { kind: 'register' }> {
  return { kind: 'register', register, type, isOwn: false }
}

function itemsOf(argument: Argument): readonly Argument[] {
  return argument.kind === 'list' ? argument.items : [argument]
}
