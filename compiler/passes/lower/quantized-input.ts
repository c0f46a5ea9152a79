import { channelsLastStrides, isContiguous } from '../../../runtime/tensor/shape.js'
import type { OperatorNode } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputOf, numberArg, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/** Operators that read images with channels innermost, whatever the layout of their input, and whose result does not show it. */
const READERS = new Set(
  ['conv2d', 'conv3d']
    .flatMap((name) => [name, `${name}_relu`].flatMap((n) => [`quantized::${n}`, `quantized::${n}.new`]))
    .concat('ptlite::clamped_convolution'),
)

/**
 * Quantizes the input of quantized convolutions right into the layout that they read.
 *
 *     %1 = aten::quantize_per_tensor(%0, 0.02, 114, quint8)       %1 = quantize(input=%0, scale=0.02, zeroPoint=114, ...)
 *     %2 = quantized::conv2d.new(%1, #0, 0.05, 120)           →   %2 = quantized::conv2d.new(%1, #0, 0.05, 120)
 */
export const quantizedInput: Pass = {
  name: 'quantized input',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const [scale, zeroPoint, dtype] = node.args.slice(1).map(numberArg)
      if (!feedsConvolutions(node, analysis) || scale === undefined || zeroPoint === undefined || dtype === undefined) continue
      const result = onlyResult(node)!
      const type = analysis.type(result)
      editor.setType(result, { ...type, strides: channelsLastStrides(type.shape) }, editor.storageOf(result))
      editor.replaceNode(node, [{ ...baseOf(node), kind: 'quantize', input: inputOf(node)!, scale, zeroPoint, dtype }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function feedsConvolutions(node: OperatorNode, analysis: Analysis): boolean {
  const input = inputOf(node)
  const result = onlyResult(node)
  if (node.op !== 'aten::quantize_per_tensor' || input === undefined || result === undefined || !analysis.isPure(node)) return false
  const { shape, strides } = analysis.type(input)
  const readers = analysis.readersOf(result)
  return (
    shape.length > 3 &&
    isContiguous(shape, strides) &&
    !analysis.isReturned(result) &&
    readers.length > 0 &&
    readers.every((reader) => reader.kind === 'operator' && READERS.has(reader.op))
  )
}
