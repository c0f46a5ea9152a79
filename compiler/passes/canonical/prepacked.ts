import { prepackedConvolution, prepackedLinear } from '../../../runtime/operators/cpu/prepacked.js'
import { isContiguous } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../../runtime/tensor/value.js'
import { type Clamp, NO_CLAMP } from '../../graph/fields.js'
import type { GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { Analysis, inputOf, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/**
 * Takes weights, biases and clamps out of the packed objects that `optimize_for_mobile` makes, so that other passes see
 * what they are.
 *
 *     object #0: xnnpack.LinearOpContext                 constant %2 = "packed0.weight"
 *     %1 = prepacked::linear_clamp_run(%0, #0)      →    %1 = linear(input=%0, weight=%2, bias=%3, clamp=[0., inf])
 *
 * The kernels are the same, and read the same packed weights.
 */
export const prepacked: Pass = {
  name: 'prepacked weights',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const plain = unpacked(node, analysis, editor)
      if (plain === null) continue
      editor.replaceNode(node, [plain])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function unpacked(node: OperatorNode, analysis: Analysis, editor: Editor): GraphNode | null {
  const input = inputOf(node)
  const [, packed] = node.args
  if (input === undefined || packed?.kind !== 'object') return null
  const object = analysis.graph.objects[packed.index]!
  const given = (t: Tensor, name: string): ValueId => editor.givenConstant(t, `packed${packed.index}.${name}`)
  const biasOf = (t: Tensor | null): ValueId | null => (t === null ? null : given(t, 'bias'))
  switch (node.op) {
    case 'prepacked::linear_clamp_run': {
      const { shape, strides } = analysis.type(input)
      const { weight, bias, clamp } = prepackedLinear(object)
      // the object keeps dense copies of other weights, which the guards do not know
      if (!isContiguous(shape, strides) || !holds(object, weight, bias)) return null
      const operands = { input, weight: given(weight, 'weight'), bias: biasOf(bias) }
      return { ...baseOf(node), kind: 'linear', ...operands, form: 'dense', clamp: boundsOf(clamp), post: null }
    }
    case 'prepacked::conv2d_clamp_run': {
      const { weight, bias, clamp, settings } = prepackedConvolution(object)
      const { stride, padding, dilation, groups } = settings
      const lists = [stride, padding, dilation]
      if (analysis.type(input).shape.length !== 4 || lists.some((list) => list.length !== 2) || !holds(object, weight, bias)) return null
      const operands = { input, filter: given(weight, 'weight'), bias: biasOf(bias), residual: null }
      return {
        ...baseOf(node),
        kind: 'convolution',
        ...operands,
        ...{ layout: 'planes', strategy: 'product', stride, padding, dilation, groups, perGroup: [] },
        clamp: boundsOf(clamp),
        post: null,
      }
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

function boundsOf(clamp: { readonly lo: number; readonly hi: number } | null): Clamp {
  return clamp === null ? NO_CLAMP : { min: clamp.lo, max: clamp.hi }
}
