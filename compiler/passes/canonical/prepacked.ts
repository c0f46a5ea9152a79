import { prepackedConvolution, prepackedLinear } from '../../../runtime/operators/cpu/prepacked.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { isContiguous } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../../runtime/tensor/value.js'
import { type Clamp, NO_CLAMP } from '../../graph/fields.js'
import type { GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { floatWeight, type PackedWeight } from '../../graph/packed-weight.js'
import { named } from '../../graph/arguments.js'
import { type Analysis, analysisOf, inputOf, numberArg, operatorsOf, valueArg } from '../analysis.js'
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
    const analysis = analysisOf(graph)
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
  const integers = input === undefined ? null : integerWeight(node, input, analysis)
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

/** The constant weight of a product of float32 with integers; null for other operators. */
function integerWeight(node: OperatorNode, input: ValueId, analysis: Analysis): PackedWeight | null {
  const isPairs = node.op === 'aten::_weight_int4pack_mm_for_cpu'
  if (!isPairs && node.op !== 'aten::_weight_int8pack_mm') return null
  const constantAt = (name: string): ValueId | undefined => {
    const id = valueArg(named(node, name))
    return id === undefined || analysis.tensor(id) === undefined ? undefined : id
  }
  const [values, scales] = [constantAt('mat2'), constantAt(isPairs ? 'qScaleAndZeros' : 'scales')]
  const group = isPairs ? numberArg(named(node, 'qGroupSize')) : 0
  if (values === undefined || scales === undefined || group === undefined) return null
  const types = [values, scales, input].map((id) => analysis.type(id))
  if (types[1]!.dtype !== DType.float32 || types[2]!.dtype !== DType.float32) return null
  if (!types.every(({ shape, strides }) => isContiguous(shape, strides) && !shape.includes(0))) return null
  return { values, format: isPairs ? 'pairs' : 'i8', scales, zeros: null, group, rows: null }
}
