import { prepackedConvolution, prepackedLinear } from '../../runtime/backends/cpu/prepacked.js'
import { isContiguous } from '../../runtime/tensor/shape.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../runtime/tensor/value.js'
import { type Arg, constant, type GraphNode, NONE, value } from '../graph/graph.js'
import { Analysis, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/**
 * Takes weights, biases and clamps out of the packed objects that `optimize_for_mobile` makes, so that other passes see
 * what they are.
 *
 *     object #0: xnnpack.LinearOpContext                 constant %2 = "packed0.weight"
 *     %1 = prepacked::linear_clamp_run(%0, #0)      →    %1 = ptlite::linear(%0, %2, %3, 0., inf)
 *
 * The kernels are the same, and read the same packed weights.
 */
export const prepacked: Pass = {
  name: 'prepacked weights',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const plain = unpacked(node, analysis, editor)
      if (plain === null) continue
      editor.replaceNode(node, [plain])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function unpacked(node: GraphNode, analysis: Analysis, editor: Editor): GraphNode | null {
  const input = valueArg(node.args[0])
  const packed = node.args[1]
  if (input === undefined || packed?.kind !== 'object') return null
  const object = analysis.graph.objects[packed.index]!
  const tensor = (t: Tensor | null, name: string): Arg =>
    t === null ? NONE : value(editor.givenConstant(t, `packed${packed.index}.${name}`))
  switch (node.op) {
    case 'prepacked::linear_clamp_run': {
      const { shape, strides } = analysis.type(input)
      const { weight, bias, clamp } = prepackedLinear(object)
      // the object keeps dense copies of other weights, which the guards do not know
      if (!isContiguous(shape, strides) || !holds(object, weight, bias)) return null
      const args = [node.args[0]!, tensor(weight, 'weight'), tensor(bias, 'bias'), ...limits(clamp)]
      return { ...node, op: 'ptlite::linear', args }
    }
    case 'prepacked::conv2d_clamp_run': {
      const { weight, bias, clamp, settings } = prepackedConvolution(object)
      const { stride, padding, dilation, groups } = settings
      const lists = [stride, padding, dilation]
      if (analysis.type(input).shape.length !== 4 || lists.some((list) => list.length !== 2) || !holds(object, weight, bias)) return null
      const shapes = [...lists.map((list) => constant([...list])), constant(groups)]
      const args = [node.args[0]!, tensor(weight, 'weight'), tensor(bias, 'bias'), ...shapes, ...limits(clamp)]
      return { ...node, op: 'ptlite::convolution', args }
    }
    default:
      return null
  }
}

/** True where both are the tensors that the object came with. */
function holds({ state }: CustomObject, weight: Tensor, bias: Tensor | null): boolean {
  const items: unknown[] = state !== null && typeof state === 'object' && 'items' in state ? (state.items as unknown[]) : []
  return items.includes(weight) && (bias === null || items.includes(bias))
}

function limits(clamp: { readonly lo: number; readonly hi: number } | null): Arg[] {
  return [constant(new Float(clamp?.lo ?? -Infinity)), constant(new Float(clamp?.hi ?? Infinity))]
}
