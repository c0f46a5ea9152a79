import { prepackedConvolution, prepackedLinear } from '../../../runtime/operators/cpu/prepacked.js'
import { isContiguous } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../../runtime/tensor/value.js'
import { type Clamp, NO_CLAMP } from '../../graph/fields.js'
import type { GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { floatWeight, type PackedWeight } from '../../graph/packed-weight.js'
import { named } from '../../graph/arguments.js'
import { Analysis, inputOf, numberArg, operatorsOf, valueArg } from '../analysis.js'
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
  const integers = input === undefined ? null : integerWeight(node)
  if (integers !== null)
    return { ...baseOf(node), kind: 'linear', input: input!, weight: integers, bias: null, form: 'dense', clamp: NO_CLAMP, post: null }
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
      const operands = { input, weight: floatWeight(given(weight, 'weight')), bias: biasOf(bias) }
      return { ...baseOf(node), kind: 'linear', ...operands, form: 'dense', clamp: boundsOf(clamp), post: null }
    }
    case 'prepacked::conv2d_clamp_run': {
      const { weight, bias, clamp, settings } = prepackedConvolution(object)
      const { stride, padding, dilation, groups } = settings
      const lists = [stride, padding, dilation]
      if (analysis.type(input).shape.length !== 4 || lists.some((list) => list.length !== 2) || !holds(object, weight, bias)) return null
      const operands = { input, filter: floatWeight(given(weight, 'weight')), bias: biasOf(bias), residual: null }
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

/** The weight of a product with integers, which was packed when the model was made; null for other operators. */
function integerWeight(node: OperatorNode): PackedWeight | null {
  const of = (name: string): ValueId | undefined => valueArg(named(node, name))
  switch (node.op) {
    case 'aten::_weight_int8pack_mm': {
      const [values, scales] = [of('mat2'), of('scales')]
      return values === undefined || scales === undefined ? null : { values, format: 'i8', scales, group: 0 }
    }
    case 'aten::_weight_int4pack_mm_for_cpu': {
      const [values, scales, group] = [of('mat2'), of('qScaleAndZeros'), numberArg(named(node, 'qGroupSize'))]
      return values === undefined || scales === undefined || group === undefined ? null : { values, format: 'i4', scales, group }
    }
    default:
      return null
  }
}
