import { prepackedConvolution, prepackedLinear, prepackedTransposed } from '../../../runtime/operators/cpu/prepacked.js'
import { float } from '../../../runtime/tensor/scalar.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../../runtime/tensor/value.js'
import { type Arg, constant, NONE, type OperatorNode, value } from '../../graph/graph.js'
import { analysisOf, inputOf, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/** An operator without a packed object, and its arguments behind the input. */
interface Plain {
  readonly op: string
  readonly args: readonly Arg[]
  readonly clamp: { readonly lo: number; readonly hi: number } | null
}

/**
 * Layers that `optimize_for_mobile` has packed, as operators that every runtime has: for files that are written of a graph.
 *
 *     object #0: xnnpack.LinearOpContext                 %1 = aten::linear(%0, %2, %3)
 *     %4 = prepacked::linear_clamp_run(%0, #0)      →    %4 = aten::clamp(%1, 0., inf)
 */
export const unpacked: Pass = {
  name: 'unpacked layers',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const [input, result, packed] = [inputOf(node), onlyResult(node), node.args[1]]
      if (input === undefined || result === undefined || packed?.kind !== 'object') continue
      const object = graph.objects[packed.index]!
      const plain = plainOf(node.op, object, analysis.type(input).shape.length, (t, name) =>
        t === null ? NONE : value(editor.givenConstant(t, `packed${packed.index}.${name}`)),
      )
      if (plain === null) continue
      const { op, args, clamp } = plain
      const layer: OperatorNode = { ...node, op, args: [node.args[0]!, ...args] }
      if (clamp === null) editor.replaceNode(node, [layer])
      else {
        const whole = editor.newValue({ ...analysis.type(result), offset: 0 })
        const bounds = [clamp.lo, clamp.hi].map((bound) => constant(float(bound)))
        const clamped: OperatorNode = { ...node, op: 'aten::clamp', args: [value(whole), ...bounds] }
        editor.replaceNode(node, [{ ...layer, results: [{ kind: 'value', id: whole }] }, clamped])
      }
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function plainOf(op: string, object: CustomObject, rank: number, tensor: (t: Tensor | null, name: string) => Arg): Plain | null {
  switch (op) {
    case 'prepacked::linear_clamp_run': {
      const { weight, bias, clamp } = prepackedLinear(object)
      return { op: 'aten::linear', args: [tensor(weight, 'weight'), tensor(bias, 'bias')], clamp }
    }
    case 'prepacked::conv2d_clamp_run': {
      if (rank !== 4) return null
      const { weight, bias, clamp, settings } = prepackedConvolution(object)
      const { stride, padding, dilation, groups } = settings
      const lists = [stride, padding, dilation].map((list) => constant([...list]))
      return { op: 'aten::conv2d', args: [tensor(weight, 'weight'), tensor(bias, 'bias'), ...lists, constant(groups)], clamp }
    }
    case 'prepacked::conv2d_transpose_clamp_run': {
      if (rank !== 4) return null
      const { weight, bias, clamp, settings, outputPadding } = prepackedTransposed(object)
      const [stride, padding, output, dilation] = [settings.stride, settings.padding, outputPadding, settings.dilation].map((list) =>
        constant([...list]),
      ) as [Arg, Arg, Arg, Arg]
      const args = [tensor(weight, 'weight'), tensor(bias, 'bias'), stride, padding, output, constant(settings.groups), dilation]
      return { op: 'aten::conv_transpose2d.input', args, clamp }
    }
    default:
      return null
  }
}
