import type { Argument, Graph } from './graph.js'
import { damaged } from '../../program/file-error.js'
import { borrowed, GraphEmitter, itemsOf, UNUSED } from './graph-emitter.js'
import { pushAny, typeOf } from './push.js'
import type { Place, ValueKind } from './scope.js'

/** Writes loops: what is carried from turn to turn has a register, rows that turns make are put into a list. */
export class LoopEmitter extends GraphEmitter {
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
}

/** What rows are taken from: pushed, and the register where that is of the loop alone. */
interface Source {
  readonly push: () => void
  readonly own: number | null
}
