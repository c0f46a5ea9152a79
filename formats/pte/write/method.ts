import type { Graph } from '../../../compiler/graph/graph.js'
import { compiler } from '../../../compiler/lazy.js'
import { TieredModule } from '../../../compiler/tier.js'
import type { ScriptModule } from '../../../interpreter/script-module.js'
import { guarded, unsupported } from '../../../program/file-error.js'
import type { LinkedFunction } from '../../../program/linked.js'
import { PtliteError } from '../../../runtime/error.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import type { Value } from '../../../runtime/tensor/value.js'
import { align, type AlignedGraph, type AlignedNode, type AlignedValue } from './aligned.js'
import type { ConstantTable } from './constants.js'
import { Lowering } from './lowering.js'
import { NodeArguments } from './node.js'
import { PlanWriter, type WrittenPlan } from './plan-writer.js'
import { ELEMENTS } from './rules-elements.js'
import { LAYERS } from './rules-layers.js'
import { SHAPES } from './rules-shapes.js'
import { argumentTree, leavesIn, leavesOfResult, resultTree } from './trees.js'

/** Recordings that tell what depends on a size, and how. */
const LEAST_SAMPLES = 3
const MAX_SAMPLES = 6

const RULES = { ...LAYERS, ...ELEMENTS, ...SHAPES }

/** Arguments of the sizes of a sample, the largest first; undefined for one that cannot be. */
export type Examples = readonly (() => readonly Value[])[]

/**
 * Writes a method as a plan: records calls with the examples, and calls ExecuTorch's operators in place of this runtime's. Throws UNSUPPORTED_FILE for what has no form, with
 * all operators that have none.
 */
export function writeMethod(script: ScriptModule, fn: LinkedFunction, examples: Examples, constants: ConstantTable): WrittenPlan {
  return guarded(`method '${fn.source.method}'`, () => {
    const { graphs, args } = recordSamples(script, fn, examples)
    try {
      return planOf(fn.source.method, align(graphs), args, constants)
    } finally {
      graphs.forEach(releaseGraph)
    }
  })
}

/** What a call of a method computes, with as few spellings of one operator as there are. Throws UNSUPPORTED_FILE, saying why, for methods that cannot be written so. */
function recordCall(script: ScriptModule, fn: LinkedFunction, args: readonly Value[]): Graph {
  const tiers = new TieredModule(script, 'off')
  const found = tiers.record(fn, args)
  if (!('graph' in found)) throw unsupported(`it cannot be written as ExecuTorch's operators: ${found.reason}`)
  return compiler().plainGraph(found.graph)
}

/** Gives back what passes have made. */
function releaseGraph({ constants }: Graph): void {
  for (const { derived, tensor } of constants) if (derived) tensor.release()
}

function recordSamples(script: ScriptModule, fn: LinkedFunction, examples: Examples): { graphs: Graph[]; args: readonly Value[] } {
  const [first] = examples
  const args = first!()
  const graphs = [recordCall(script, fn, args)]
  if (examples.length === 1) return { graphs, args }
  let failure: unknown
  for (const example of examples.slice(1)) {
    if (graphs.length === MAX_SAMPLES) break
    try {
      graphs.push(recordCall(script, fn, example()))
    } catch (error) {
      // not all sizes that are within bounds need fit the model
      if (!(error instanceof PtliteError)) throw error
      failure = error
    }
  }
  if (graphs.length < LEAST_SAMPLES)
    throw unsupported(`too few of its sizes could be tried to see what depends on them (${String(failure)}); give --shape`)
  return { graphs, args }
}

function planOf(name: string, graph: AlignedGraph, args: readonly Value[], constants: ConstantTable): WrittenPlan {
  const plan = new PlanWriter(constants)
  const lowering = new Lowering(plan)
  const tensors = new Map<Tensor, AlignedValue>()
  const leaves = args.flatMap(leavesIn)
  const given = leaves.filter((leaf): leaf is Tensor => leaf instanceof Tensor)
  given.forEach((tensor, i) => tensors.set(tensor, graph.inputs[i]!))
  const inputs = leaves.map((leaf) => {
    if (leaf instanceof Tensor) return plan.define(tensors.get(leaf)!)
    return plan.leaf(typeof leaf === 'number' || typeof leaf === 'bigint' ? { kind: 'int', at: [leaf] } : { kind: 'plain', value: leaf })
  })
  const lacking = new Map<string, string>()
  for (const node of graph.nodes) {
    try {
      writeNode(node, lowering)
    } catch (error) {
      if (!(error instanceof PtliteError) || error.code !== 'UNSUPPORTED_FILE') throw error
      lacking.set(node.op, error.message)
    }
  }
  if (lacking.size > 0) {
    const texts = [...lacking].map(([op, why]) => (why === '' ? op : why.includes(op) ? why : `${op} (${why})`))
    throw unsupported(`ExecuTorch's portable operators cannot say ${texts.join(', ')}`)
  }
  const result = lowering.arg(graph.output)
  const outputs = leavesOfResult(result).map((leaf) => plan.leaf(leaf))
  return plan.finish(name, inputs, outputs, argumentTree(args), resultTree(result))
}

function writeNode(node: AlignedNode, lowering: Lowering): void {
  if (node.isInPlace) throw unsupported(`${node.op} writes to a part of a tensor, or to one that is seen elsewhere`)
  const rule = Object.hasOwn(RULES, node.op) ? RULES[node.op] : undefined
  if (rule !== undefined) rule(new NodeArguments(node, lowering), lowering)
  else if (!lowering.direct(node)) throw unsupported('')
}
