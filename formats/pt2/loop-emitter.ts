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
   * (graph, xs, additional): row i of the results is rows 0 to i of `xs` put together by the graph, which takes as many rows at a time as there are, and in PyTorch's order: first every row
   * of an odd number with the one before it, until one is left; on the way back the others with the result before them.
   */
  associativeScan(): void {
    const { builder } = this
    const graph = this.graphAt(0)
    const xs = itemsOf(this.args[1] ?? { kind: 'none' })
    const additional = itemsOf(this.args[2] ?? { kind: 'list', items: [] })
    this.checkCount(graph.outputs.length, xs.length)
    this.checkCount(this.outputs().length, xs.length)
    if (xs.length === 0) throw damaged('a loop over nothing')
    const registers = (): number[] => xs.map(() => builder.allocate())
    const [levels, made, left, right] = [xs.map(() => this.emptyList()), registers(), registers(), registers()]
    const combine = (): void => {
      const operands = [...left, ...right].map((register) => borrowed(register, 'Tensor'))
      const inner = this.scopeOf(graph, [...operands, ...additional.map((item) => this.borrow(item))])
      this.emitNodes(inner)
      for (const output of graph.outputs) pushAny(output, inner, builder)
    }
    const each = (write: (i: number) => void): void => xs.forEach((_, i) => write(i))
    each((i) => {
      this.source(xs[i]!, false).push()
      builder.emit('STORE', made[i]!)
    })
    const [down, up, end] = [builder.label(), builder.label(), builder.label()]
    builder.place(down)
    this.pushRows(made[0]!)
    builder.constant(1)
    builder.operator('aten::gt.int', 2)
    builder.jump('JF', up)
    each((i) => {
      this.append(levels[i]!, made[i]!)
      this.storeRows(left[i]!, made[i]!, 0, -1, 2)
      this.storeRows(right[i]!, made[i]!, 1, null, 2)
    })
    combine()
    this.storeAll(made)
    builder.jump('JMP', down)
    builder.place(up)
    builder.emit('LOAD', levels[0]!)
    builder.operator('aten::len.t', 1)
    builder.constant(0)
    builder.operator('aten::gt.int', 2)
    builder.jump('JF', end)
    const [all, isOdd] = [registers(), builder.label()]
    each((i) => {
      builder.emit('LOAD', levels[i]!)
      builder.operator('aten::pop.t', 1)
      builder.emit('STORE', all[i]!)
      this.storeRows(right[i]!, all[i]!, 2, null, 2)
      builder.emit('LOAD', made[i]!)
      builder.emit('STORE', left[i]!)
    })
    this.pushRows(all[0]!)
    builder.constant(2)
    builder.operator('aten::remainder.int', 2)
    builder.constant(0)
    builder.operator('aten::eq.int', 2)
    builder.jump('JF', isOdd)
    each((i) => this.storeRows(left[i]!, made[i]!, 0, -1, 1))
    builder.place(isOdd)
    combine()
    this.storeAll(right)
    each((i) => this.interleave(all[i]!, right[i]!, made[i]!, left[i]!))
    builder.jump('JMP', up)
    builder.place(end)
    for (const register of [...levels, ...left, ...right, ...all]) {
      builder.emit('DROPR', register)
      builder.release(register)
    }
    this.defineResults(made)
  }

  /** Puts what `even` has, behind the first row of `all`, and `odd` in turns into `odd`: as many rows as `all` has. */
  private interleave(all: number, even: number, odd: number, spare: number): void {
    const { builder } = this
    this.storeRows(spare, all, 0, 1, 1)
    this.storeList('aten::cat', [spare, even], 0, even)
    // there may be a row less of these: what is behind them fills up
    this.storeList('aten::cat', [odd, even], 0, spare)
    builder.emit('LOAD', spare)
    this.cutToRowsOf(even)
    builder.emit('STORE', spare)
    this.storeList('aten::stack', [even, spare], 1, odd)
    builder.emit('LOAD', odd)
    builder.constant(0)
    builder.constant(1)
    builder.operator('aten::flatten.using_ints', 3)
    this.cutToRowsOf(all)
    builder.emit('STORE', odd)
  }

  /** Cuts the tensor on the stack to as many rows as that of a register has. */
  private cutToRowsOf(register: number): void {
    const { builder } = this
    builder.constant(0)
    builder.constant(0)
    this.pushRows(register)
    builder.constant(1)
    builder.operator('aten::slice.Tensor', 5)
  }

  private pushRows(register: number): void {
    this.builder.emit('LOAD', register)
    this.builder.constant(0)
    this.builder.operator('aten::size.int', 2)
  }

  /** Stores the rows from `start` to `end`, every `step`th. */
  private storeRows(target: number, source: number, start: number, end: number | null, step: number): void {
    const { builder } = this
    builder.emit('LOAD', source)
    for (const value of [0, start, end, step]) builder.constant(value)
    builder.operator('aten::slice.Tensor', 5)
    builder.emit('STORE', target)
  }

  /** Stores what an operator makes of a list of tensors and a dimension. */
  private storeList(operator: string, sources: readonly number[], dim: number, target: number): void {
    const { builder } = this
    for (const register of sources) builder.emit('LOAD', register)
    builder.emit('LIST_CONSTRUCT', builder.type('List[Tensor]'), sources.length)
    builder.constant(dim)
    builder.operator(operator, 2)
    builder.emit('STORE', target)
  }

  private append(list: number, item: number): void {
    const { builder } = this
    builder.emit('LOAD', list)
    builder.emit('LOAD', item)
    builder.operator('aten::append.t', 2)
    builder.emit('DROP')
  }

  /** A register with a list of tensors that is empty. */
  private emptyList(): number {
    const { builder } = this
    const register = builder.allocate()
    builder.emit('LIST_CONSTRUCT', builder.type('List[Tensor]'), 0)
    builder.emit('STORE', register)
    return register
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
    const lists = graph.outputs.slice(init.length).map(() => this.emptyList())
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
