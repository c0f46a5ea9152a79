import type { Argument, Graph, GraphNode } from './graph.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import { damaged } from '../../program/file-error.js'
import { pushAny, typeOf } from './push.js'
import { type Place, Scope, type ValueKind } from './scope.js'

/** What writes the nodes of a graph, whose inputs are defined. */
export type EmitNodes = (scope: Scope) => void

/** What writers of higher-order operators share: the graphs among the arguments of a node, and its results. */
export abstract class GraphEmitter {
  protected readonly args: readonly Argument[]

  constructor(
    protected readonly node: GraphNode,
    protected readonly scope: Scope,
    protected readonly builder: CodeBuilder,
    protected readonly emitNodes: EmitNodes,
  ) {
    this.args = node.inputs.map(({ argument }) => argument)
  }

  protected pushCondition(condition: Argument, scope: Scope): void {
    const type = typeOf(condition, scope)
    if (condition.kind === 'tensor' || condition.kind === 'symbol') scope.peek(condition.name)
    else pushAny(condition, scope, this.builder)
    if (type === 'Tensor') this.builder.operator('aten::Bool.Tensor', 1)
    else if (type === 'int') this.builder.operator('aten::Bool.int', 1)
    else if (type !== 'bool') throw damaged(`expected a bool as condition, found ${type}`)
  }

  /** Writes a graph's nodes; its outputs can be pushed from the scope. */
  protected outputsOf(graph: Graph, operands: readonly Argument[]): Scope {
    const inner = this.scopeOf(
      graph,
      operands.map((operand) => this.borrow(operand)),
    )
    this.emitNodes(inner)
    return inner
  }

  protected scopeOf(graph: Graph, places: readonly Place[]): Scope {
    this.checkCount(graph.inputs.length, places.length)
    const inner = new Scope(graph, this.builder)
    graph.inputs.forEach((input, i) => {
      if (input.kind === 'tensor' || input.kind === 'symbol') inner.define(input.name, places[i]!)
    })
    return inner
  }

  /** The place of an operand, which the graph may read but not use up. */
  protected borrow(operand: Argument): Place {
    if (operand.kind !== 'tensor' && operand.kind !== 'symbol') {
      const type = typeOf(operand, this.scope)
      return { kind: 'constant', argument: operand, type: type as ValueKind }
    }
    const place = this.scope.place(operand.name)
    return place.kind === 'register' ? { ...place, isOwn: false } : place
  }

  protected outputs(): Argument[] {
    return this.node.outputs.flatMap(itemsOf)
  }

  protected resultRegister(output: Argument): number {
    if (output.kind !== 'tensor' && output.kind !== 'symbol' && output.kind !== 'none') throw damaged(`a result of the kind ${output.kind}`)
    return this.builder.allocate()
  }

  protected storeAll(registers: readonly number[]): void {
    for (const register of [...registers].reverse()) this.builder.emit('STORE', register)
  }

  protected defineResults(registers: readonly number[]): void {
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

  protected graphAt(index: number): Graph {
    const argument = this.args[index]
    if (argument?.kind !== 'graph') throw damaged(`expected a graph as argument ${index}`)
    return argument.graph
  }

  protected checkCount(found: number, expected: number): void {
    if (found !== expected) throw damaged(`${found} values where ${expected} are expected`)
  }
}

export const UNUSED: Place = { kind: 'constant', argument: { kind: 'none' }, type: 'None' }

export function borrowed(register: number, type: ValueKind): Extract<Place, { kind: 'register' }> {
  return { kind: 'register', register, type, isOwn: false }
}

export function itemsOf(argument: Argument): readonly Argument[] {
  return argument.kind === 'list' ? argument.items : [argument]
}
