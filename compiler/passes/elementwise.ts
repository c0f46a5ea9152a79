import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { isContiguous, numelOf, sameShape } from '../../runtime/tensor/shape.js'
import { type Arg, constant, type GraphNode, value, type ValueId } from '../graph/graph.js'
import { Analysis, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { type ElementwiseStep, elementwiseStep } from './elementwise-operators.js'
import type { Pass } from './pass.js'

/** What the kernel's frame has room for. */
const MAX_STEPS = 32
const MAX_INPUTS = 8
const MAX_DIMS = 6

/**
 * Makes one pass over memory of a chain of element-wise operators on float32, broadcasting included.
 *
 *     %3: float32[1, 64, 56, 56] @3 = aten::add.Tensor(%1, %2, 1)
 *     %4: float32[1, 64, 56, 56] @4 = aten::relu(%3)               →   %4 = ptlite::fused([%1, %2], [1, 64, 56, 56], [0, 19], ...)
 *
 * A result stays in the chain where the next step is all that reads it and has the same shape. The steps use the same functions as
 * the operators: results have the same bits.
 */
export const elementwise: Pass = {
  name: 'element-wise chains',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    const taken = new Set<GraphNode>()
    // from the end, so that a chain is found whole
    for (const node of [...graph.nodes].reverse()) {
      if (taken.has(node) || !canStep(node, analysis)) continue
      const chain = grow(node, analysis, taken)
      if (chain.length < 2) continue
      const inner = chain.slice(0, -1)
      for (const part of chain) taken.add(part)
      for (const part of inner) editor.replaceNode(part, [])
      editor.replaceNode(node, [fuse(chain, analysis)])
    }
    return taken.size === 0 ? graph : editor.finish()
  },
}

/** A float32 step with a dense result, whose operands are float32, too. */
export function canStep(node: GraphNode, analysis: Analysis): boolean {
  const step = elementwiseStep(node)
  const result = onlyResult(node)
  if (step === null || result === undefined || !analysis.isPure(node)) return false
  const { dtype, shape, strides } = analysis.type(result)
  if (dtype !== DType.float32 || shape.length > MAX_DIMS || numelOf(shape) === 0) return false
  // the kernel writes dense rows
  if (!isContiguous(shape, strides)) return false
  return [step.a, step.b].every((arg) => {
    const id = arg === null ? undefined : valueArg(arg)
    return id === undefined || analysis.type(id).dtype === DType.float32
  })
}

/** The steps that end in `last`, in order. */
function grow(last: GraphNode, analysis: Analysis, taken: ReadonlySet<GraphNode>): GraphNode[] {
  const { nodes } = analysis.graph
  const shape = analysis.type(onlyResult(last)!).shape
  const chain = new Set([last])
  const pending = [last]
  while (pending.length > 0) {
    for (const arg of pending.pop()!.args) {
      const id = valueArg(arg)
      const producer = id === undefined ? undefined : analysis.producer(id)
      if (id === undefined || producer === undefined || chain.has(producer) || taken.has(producer)) continue
      if (!canStep(producer, analysis) || !sameShape(analysis.type(id).shape, shape)) continue
      if (analysis.isReturned(id) || !analysis.readersOf(id).every((reader) => chain.has(reader))) continue
      chain.add(producer)
      if (chain.size > MAX_STEPS || inputsOf(chain).length > MAX_INPUTS) chain.delete(producer)
      else pending.push(producer)
    }
  }
  return [...chain].sort((a, b) => nodes.indexOf(a) - nodes.indexOf(b))
}

/** Tensors that come from outside of the chain. */
function inputsOf(chain: Iterable<GraphNode>): ValueId[] {
  const inside = new Set([...chain].map((node) => onlyResult(node)!))
  const inputs = new Set<ValueId>()
  for (const node of chain) {
    const { a, b } = elementwiseStep(node)!
    for (const arg of [a, b]) {
      const id = arg === null ? undefined : valueArg(arg)
      if (id !== undefined && !inside.has(id)) inputs.add(id)
    }
  }
  return [...inputs]
}

/** The chain as one node. */
export function fuse(chain: readonly GraphNode[], analysis: Analysis): GraphNode {
  const last = chain.at(-1)!
  const inputs = inputsOf(chain)
  const places = new Map<ValueId, number>(inputs.map((id, i) => [id, i]))
  const steps = chain.map((node) => elementwiseStep(node)!)
  const operands: number[] = []
  const numbers: Float[] = []
  steps.forEach((step, i) => {
    const { codes, values } = encode(step, places)
    operands.push(...codes)
    numbers.push(...values.map((v) => new Float(v)))
    places.set(onlyResult(chain[i]!)!, inputs.length + i)
  })
  const { shape } = analysis.type(onlyResult(last)!)
  return {
    ...last,
    op: 'ptlite::fused',
    args: [
      { kind: 'list', items: inputs.map(value) },
      constant([...shape]),
      constant(steps.map((s) => s.op)),
      constant(operands),
      constant(numbers),
    ],
  }
}

/** Operands as the kernel numbers them: values, or -1 and -2 for the step's own numbers. */
function encode(
  { a, b, numbers }: ElementwiseStep,
  places: ReadonlyMap<ValueId, number>,
): { codes: [number, number]; values: [number, number] } {
  const values: [number, number] = numbers === null ? [0, 0] : [numbers[0], numbers[1]]
  const code = (arg: Arg | null, i: 0 | 1): number => {
    const id = arg === null ? undefined : valueArg(arg)
    if (id !== undefined) return places.get(id)!
    if (arg !== null) values[i] = numberArg(arg)!
    return -1 - i
  }
  return { codes: [code(a, 0), code(b, 1)], values }
}
