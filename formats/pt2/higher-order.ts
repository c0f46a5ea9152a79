import { castGraph } from './autocast.js'
import { functionalized } from './functionalized.js'
import type { Argument, Graph, GraphNode } from './graph.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import { damaged, unsupported } from '../../program/file-error.js'
import { type EmitNodes, GraphEmitter, itemsOf } from './graph-emitter.js'
import { LoopEmitter } from './loop-emitter.js'
import { withOutDtype } from './out-dtype.js'
import { emitPrint } from './print.js'
import { pushAny } from './push.js'
import { forEachName, type Scope } from './scope.js'
import type { MetaOf } from './tensor-meta.js'

const HIGHER_ORDER = /^torch\.ops\.higher_order\.(\w+)$/

/** The name of a higher-order operator; undefined for other targets. */
export function higherOrderName(target: string): string | undefined {
  return HIGHER_ORDER.exec(target)?.[1]
}

/** `map` that makes results without rows of inputs without rows, as torch.vmap does. */
export const MAP_ROWS = 'map_rows'

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
  const [branches, loops] = [new BranchEmitter(node, scope, builder, emitNodes), new LoopEmitter(node, scope, builder, emitNodes)]
  switch (name) {
    case 'cond':
      branches.cond()
      break
    case 'while_loop':
      loops.whileLoop()
      break
    case 'map':
    case 'map_impl':
      loops.map()
      break
    case MAP_ROWS:
      loops.map({ ofNone: true })
      break
    case 'scan':
      loops.scan()
      break
    case 'associative_scan':
      loops.associativeScan()
      break
    case 'wrap_with_autocast':
      branches.autocast(metasOf)
      break
    case 'auto_functionalized':
    case 'auto_functionalized_v2':
      branches.carryOut(functionalized(node, name.endsWith('_v2'), metasOf(scope.graph)))
      break
    case 'out_dtype':
      branches.carryOut(withOutDtype(node, metasOf(scope.graph)))
      break
    case 'print':
      emitPrint(node, scope, builder)
      break
    default:
      if (!INLINED.has(name)) {
        const advice = 'ep.run_decompositions() may rewrite it'
        throw unsupported(`the higher-order operator '${name}' is one that this runtime has not got; ${advice}`)
      }
      branches.inline()
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
  'invoke_quant',
  'invoke_quant_packed',
  'foreach_map',
  'hints_wrapper',
  'tag_activation_checkpoint',
  'wrap_activation_checkpoint',
])

/** Writes graphs in place of their operators, and branches. */
class BranchEmitter extends GraphEmitter {
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

  private storeOutputs(inner: Scope, graph: Graph): void {
    const outputs = this.outputs()
    this.checkCount(graph.outputs.length, outputs.length)
    for (const output of graph.outputs) pushAny(output, inner, this.builder)
    const results = outputs.map((output) => this.resultRegister(output))
    this.storeAll(results)
    this.defineResults(results)
  }
}
