import { channelsLastStrides, isContiguous } from '../../runtime/tensor/shape.js'
import type { GraphNode } from '../graph/graph.js'
import { Analysis, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/** Operators that read images with channels innermost, whatever the layout of their input, and whose result does not show it. */
const READERS = new Set(
  ['conv2d', 'conv3d'].flatMap((name) => [name, `${name}_relu`].flatMap((n) => [`quantized::${n}`, `quantized::${n}.new`])),
)

/**
 * Quantizes the input of quantized convolutions right into the layout that they read.
 *
 *     %1 = aten::quantize_per_tensor(%0, 0.02, 114, quint8)       %1 = ptlite::quantize_channels_last(%0, 0.02, 114, quint8)
 *     %2 = quantized::conv2d.new(%1, #0, 0.05, 120)           →   %2 = quantized::conv2d.new(%1, #0, 0.05, 120)
 */
export const quantizedInput: Pass = {
  name: 'quantized input',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      if (!feedsConvolutions(node, analysis)) continue
      const result = onlyResult(node)!
      const type = analysis.type(result)
      editor.setType(result, { ...type, strides: channelsLastStrides(type.shape) }, editor.storageOf(result))
      editor.replaceNode(node, [{ ...node, op: 'ptlite::quantize_channels_last' }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function feedsConvolutions(node: GraphNode, analysis: Analysis): boolean {
  const input = valueArg(node.args[0])
  const result = onlyResult(node)
  if (node.op !== 'aten::quantize_per_tensor' || input === undefined || result === undefined || !analysis.isPure(node)) return false
  const { shape, strides } = analysis.type(input)
  const readers = analysis.readersOf(result)
  return (
    shape.length > 3 &&
    isContiguous(shape, strides) &&
    !analysis.isReturned(result) &&
    readers.length > 0 &&
    readers.every((reader) => READERS.has(reader.op))
  )
}
