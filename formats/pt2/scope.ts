import type { Argument, Graph, ScalarKind } from './graph.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import { damaged } from '../../program/file-error.js'

export type ValueKind = 'Tensor' | ScalarKind | 'str' | 'None' | 'token'

/** Where a name's value is. */
export type Place =
  | {
      readonly kind: 'register'
      readonly register: number
      readonly type: ValueKind
      /** Freed at its last use. */ readonly isOwn: boolean
    }
  | { readonly kind: 'attribute'; readonly slot: number; readonly type: ValueKind }
  | { readonly kind: 'constant'; readonly argument: Argument; readonly type: ValueKind }

/**
 * The names of one graph and how often each is still to be used: the last use of a register moves its value, so that its memory goes back as soon as
 * it can. A graph sees no names of the one around it.
 */
export class Scope {
  private readonly places = new Map<string, Place>()
  private readonly uses = new Map<string, number>()

  constructor(
    readonly graph: Graph,
    private readonly builder: CodeBuilder,
  ) {
    const count = (name: string): unknown => this.uses.set(name, (this.uses.get(name) ?? 0) + 1)
    for (const node of graph.nodes) for (const { argument } of node.inputs) forEachName(argument, count)
    for (const output of graph.outputs) forEachName(output, count)
  }

  /** One more use of a name than the graph says. */
  keep(name: string): void {
    this.uses.set(name, (this.uses.get(name) ?? 0) + 1)
  }

  isUsed(name: string): boolean {
    return (this.uses.get(name) ?? 0) > 0
  }

  define(name: string, place: Place): void {
    if (this.places.has(name)) throw damaged(`the name '${name}' is defined twice`)
    this.places.set(name, place)
  }

  place(name: string): Place {
    const place = this.places.get(name)
    if (place === undefined) throw damaged(`it uses '${name}' before that is defined`)
    return place
  }

  /** Pushes the value of a name, for one of its uses. */
  push(name: string): void {
    const { builder } = this
    const place = this.place(name)
    if (place.kind === 'attribute') {
      builder.emit('LOAD', 1)
      builder.emit('GET_ATTR', place.slot)
    } else if (place.kind === 'constant') {
      const { argument } = place
      builder.constant(argument.kind === 'constant' || argument.kind === 'enum' ? argument.value : null)
    } else if (this.isLast(name) && place.isOwn) {
      builder.emit('MOVE', place.register)
      builder.release(place.register)
    } else builder.emit('LOAD', place.register)
  }

  /** Pushes it without using it up. */
  peek(name: string): void {
    this.keep(name)
    this.push(name)
  }

  /** One use of a name has been made without push. */
  drop(name: string): void {
    const place = this.place(name)
    if (!this.isLast(name) || place.kind !== 'register' || !place.isOwn) return
    this.builder.emit('DROPR', place.register)
    this.builder.release(place.register)
  }

  /** Stores the top of the stack under a name; drops it where nobody uses it. */
  store(name: string, type: ValueKind): void {
    if (!this.isUsed(name)) {
      this.define(name, { kind: 'constant', argument: { kind: 'none' }, type })
      this.builder.emit('DROP')
      return
    }
    const register = this.builder.allocate()
    this.define(name, { kind: 'register', register, type, isOwn: true })
    this.builder.emit('STORE', register)
  }

  private isLast(name: string): boolean {
    const left = (this.uses.get(name) ?? 0) - 1
    this.uses.set(name, left)
    return left === 0
  }
}

/** An argument that is called by name. */
export type NamedArgument = Extract<Argument, { kind: 'tensor' | 'symbol' }>

/** Calls `use` for each occurrence of a name in an argument. Graphs in it have names of their own. */
export function forEachName(argument: Argument, use: (name: string, argument: NamedArgument) => void): void {
  switch (argument.kind) {
    case 'tensor':
    case 'symbol':
      use(argument.name, argument)
      break
    case 'list':
      for (const item of argument.items) forEachName(item, use)
      break
    case 'dict':
      for (const [, item] of argument.entries) forEachName(item, use)
      break
  }
}
