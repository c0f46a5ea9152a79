import { dtypeName } from '../../runtime/tensor/dtype.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { isContiguous } from '../../runtime/tensor/shape.js'
import { isPerChannel, type Quant } from '../../runtime/tensor/tensor.js'
import { Device, type DictKey, Tuple, type Value } from '../../runtime/tensor/value.js'
import { namedArgs } from './compiled.js'
import type { Arg, Graph, GraphNode, GraphValue, Origin, Result, ValueId } from './graph.js'
import { nameOf } from './node.js'

/** The source line of a place in the model, where it is known. */
export type Describe = (origin: Origin) => string | undefined

/**
 * A graph as text, one node per line; `parseGraph` reads it back. A tensor is written where it is defined, with its type
 * and the number of its storage:
 *
 *     input %0: float32[1, 3, 224, 224] @0
 *     constant %1: float32[32, 3, 3, 3] @1 = "features.0.0.weight"
 *     %2: float32[1, 32, 112, 112] @2 = aten::conv2d(%0, %1, None, [2, 2], [1, 1], [1, 1], 1)
 *     return %2
 *
 * What passes made has names for its arguments: `linear(input=%0, weight=%1)`. `!` marks an argument that is written to, `#0` is an object, `_` a result that nobody needs. Comments say why a
 * pass chose a node and, with `describe`, where in the model it comes from.
 */
export function printGraph(graph: Graph, describe?: Describe): string {
  const lines: string[] = []
  const define = (id: ValueId): string => definition(graph.values.get(id)!)
  const seen = new Set<ValueId>()
  for (const id of graph.inputs) {
    lines.push(seen.has(id) ? `input %${id}` : `input ${define(id)}`)
    seen.add(id)
  }
  graph.objects.forEach((object, i) => lines.push(`object #${i}: ${object.className}`))
  for (const c of graph.constants) lines.push(`constant ${define(c.id)} = ${JSON.stringify(c.name)}${c.derived ? ' derived' : ''}`)
  for (const node of graph.nodes) {
    const where = node.origin === null || describe === undefined ? undefined : describe(node.origin)
    const comments = [node.note, where].filter((text) => text !== undefined)
    lines.push(nodeText(node, define) + (comments.length === 0 ? '' : `  # ${comments.join('; ')}`))
  }
  lines.push(`return ${argText(graph.output, NO_WRITES)}`)
  return `${lines.join('\n')}\n`
}

const NO_WRITES: ReadonlySet<ValueId> = new Set()

function nodeText(node: GraphNode, define: (id: ValueId) => string): string {
  const writes = new Set(node.writes)
  const args =
    node.kind === 'operator'
      ? node.args.map((arg) => argText(arg, writes))
      : namedArgs(node).map(([name, arg]) => `${name}=${argText(arg, writes)}`)
  const call = `${nameOf(node)}(${args.join(', ')})`
  return node.results.length === 0 ? call : `${node.results.map((r) => resultText(r, define)).join(', ')} = ${call}`
}

function resultText(result: Result, define: (id: ValueId) => string): string {
  if (result.kind === 'ignored') return '_'
  return result.kind === 'value' ? define(result.id) : `[${result.items.map((item) => resultText(item, define)).join(', ')}]`
}

/** `%5: float32[2, 3] strides [1, 2] from 4 @7` */
function definition({ id, type, storage }: GraphValue): string {
  const { dtype, shape, strides, offset, quant } = type
  const layout = isContiguous(shape, strides) ? '' : ` strides [${strides.join(', ')}]`
  const start = offset === 0 ? '' : ` from ${offset}`
  return `%${id}: ${dtypeName(dtype)}[${shape.join(', ')}]${layout}${start}${quant === null ? '' : quantText(quant)} @${storage}`
}

function quantText(quant: Quant): string {
  if (!isPerChannel(quant)) return ` quant ${quant.scale} ${quant.zeroPoint}`
  return ` quant ${quant.floatZeroPoints === true ? 'float ' : ''}along ${quant.axis} [${quant.scales.join(', ')}] [${quant.zeroPoints.join(', ')}]`
}

/** An argument; `idText` is how values are written. */
export function argText(arg: Arg, writes: ReadonlySet<ValueId>, idText = (id: ValueId): string => `%${id}`): string {
  const inner = (item: Arg): string => argText(item, writes, idText)
  switch (arg.kind) {
    case 'value':
      return `${idText(arg.id)}${writes.has(arg.id) ? '!' : ''}`
    case 'object':
      return `#${arg.index}`
    case 'constant':
      return valueText(arg.value)
    case 'list':
      return `[${arg.items.map(inner).join(', ')}]`
    case 'tuple':
      return tupleText(arg.items.map(inner), arg.fields)
    case 'dict':
      return `{${arg.entries.map(([key, item]) => `${keyText(key)}: ${inner(item)}`).join(', ')}}`
  }
}

function valueText(value: Value): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Float) return floatText(value.value)
  if (value instanceof Complex) return `complex ${floatText(value.re)} ${floatText(value.im)}`
  if (value instanceof Device) return `device ${JSON.stringify(value.toString())}`
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (value instanceof Tuple) return tupleText(value.items.map(valueText), value.fields)
  if (value instanceof Map) return `{${[...value].map(([key, item]) => `${keyText(key)}: ${valueText(item)}`).join(', ')}}`
  return String(value as number | bigint)
}

function tupleText(items: readonly string[], fields: readonly string[] | undefined): string {
  const names = fields === undefined ? '' : `tuple<${fields.join(', ')}>`
  return `${names}(${items.join(', ')}${items.length === 1 ? ',' : ''})`
}

/** Dict keys say what they are: an int is `2`, a float `2.` would be read back as one. */
function keyText(key: DictKey): string {
  return typeof key === 'string'
    ? JSON.stringify(key)
    : typeof key === 'boolean'
      ? key
        ? 'True'
        : 'False'
      : String(key as number | bigint)
}

/** Always with a point or an exponent, so that it is not taken for an int; every bit is kept but for the payload of NaN. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (Object.is(value, -0)) return '-0.'
  const text = String(value)
  return /[.e]/.test(text) ? text : `${text}.`
}
