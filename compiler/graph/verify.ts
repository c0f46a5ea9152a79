import { PtliteError } from '../../runtime/error.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { extentOf } from '../../runtime/tensor/shape.js'
import { callOf } from './compiled.js'
import { definitionsOf, type Graph, type ValueId, visitArg } from './graph.js'
import { nameOf, usesOf } from './node.js'

/**
 * Checks what every pass relies on: each value is defined once and before its use, operators exist and have as many
 * arguments as their schemas, types are sound, no constant is written to, and views lie in a storage that
 * was there before them. Throws INTERNAL naming the node.
 */
export function verifyGraph(graph: Graph): void {
  const defined = new Set<ValueId>()
  const fixed = new Set<number>()
  const fail = (what: string): never => {
    throw new PtliteError('INTERNAL', `invalid graph: ${what}`)
  }
  const define = (id: ValueId, where: string): void => {
    if (defined.has(id)) fail(`%${id} is defined twice, at ${where}`)
    defined.add(id)
    const value = graph.values.get(id) ?? fail(`%${id} has no type`)
    const { shape, strides, offset } = value.type
    if (
      value.id !== id ||
      strides.length !== shape.length ||
      ![...shape, ...strides, offset].every((n) => Number.isSafeInteger(n) && n >= 0)
    ) {
      fail(`the type of %${id} is broken`)
    }
  }
  const use = (id: ValueId, where: string): void => {
    if (!defined.has(id)) fail(`%${id} is used before it is defined, at ${where}`)
  }
  for (const id of new Set(graph.inputs)) {
    define(id, 'the inputs')
  }
  const names = new Set<string>()
  for (const { id, name, tensor } of graph.constants) {
    define(id, `constant ${name}`)
    const { type, storage } = graph.values.get(id)!
    fixed.add(storage)
    if (names.has(name)) fail(`two constants are named ${name}`)
    names.add(name)
    if (!tensor.storage.live) fail(`constant ${name} was disposed`)
    if ((type.offset + extentOf(type.shape, type.strides)) * tensor.itemSize > tensor.storage.byteLength)
      fail(`constant ${name} leaves its storage`)
  }
  graph.nodes.forEach((node, i) => {
    const where = `node ${i}, ${nameOf(node)}`
    const { op, args } = callOf(node)
    const { schema } = findOperator(op) ?? fail(`${where}: no such operator`)
    if (schema.isVararg || schema.arguments.length !== args.length) {
      fail(`${where}: expected ${schema.arguments.length} arguments, found ${args.length}`)
    }
    if (schema.returns.length !== node.results.length)
      fail(`${where}: expected ${schema.returns.length} results, found ${node.results.length}`)
    const uses = usesOf(node)
    for (const id of uses) use(id, where)
    for (const arg of args) {
      if (arg.kind === 'object' && graph.objects[arg.index] === undefined) fail(`${where}: no object #${arg.index}`)
    }
    for (const id of node.writes) {
      if (!uses.includes(id)) fail(`${where} writes to %${id}, which is not an argument`)
      if (fixed.has(graph.values.get(id)!.storage)) fail(`${where} writes to %${id}, a constant`)
    }
    for (const id of definitionsOf(node)) define(id, where)
  })
  visitArg(graph.output, (id) => use(id, 'the result'))
}
