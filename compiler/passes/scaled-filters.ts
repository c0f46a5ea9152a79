import { numelOf, sameShape } from '../../runtime/tensor/shape.js'
import { type GraphNode, value, type ValueId } from '../graph/graph.js'
import { Analysis, integersArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/** How many times larger than a filter an image has to be. */
const WORTHWHILE = 1.5

/**
 * A factor per channel, as of squeeze and excitation, on all that a pointwise convolution over blocks of channels reads becomes one on its
 * filter, which is smaller: the image is neither read nor written once more.
 *
 *     %2 = aten::mul.Tensor(%0, %1)                           %2 = ptlite::blocked_scaled_filter(%w, %1)
 *     %3 = ptlite::blocked_convolution(%2, %w, ...)     →     %3 = ptlite::blocked_convolution(%0, %2, ...)
 *
 * Results differ by roundings.
 */
export const scaledFilters: Pass = {
  name: 'scaled filters',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const scaled = node.op === 'aten::mul.Tensor' ? scaledInput(node, analysis) : null
      if (scaled === null) continue
      const { image, factors, convolution } = scaled
      const filter = valueArg(convolution.args[1])!
      const made = editor.newValue(analysis.type(filter))
      const scale = { ...node, op: 'ptlite::blocked_scaled_filter', args: [value(filter), value(factors)] }
      editor.replaceNode(node, [{ ...scale, results: [{ kind: 'value', id: made }] }])
      editor.replaceNode(convolution, [{ ...convolution, args: [value(image), value(made), ...convolution.args.slice(2)] }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

interface ScaledInput {
  readonly image: ValueId
  readonly factors: ValueId
  readonly convolution: GraphNode
}

/** The product of one image and one factor per channel that only a pointwise convolution reads. */
function scaledInput(node: GraphNode, analysis: Analysis): ScaledInput | null {
  const [a, b, result] = [valueArg(node.args[0]), valueArg(node.args[1]), onlyResult(node)]
  const convolution = result === undefined ? undefined : analysis.onlyReader(result)
  if (a === undefined || b === undefined || convolution?.op !== 'ptlite::blocked_convolution') return null
  if (valueArg(convolution.args[0]) !== result || !analysis.isPure(node) || !analysis.isPure(convolution)) return null
  const shapeOf = (id: ValueId): readonly number[] => analysis.type(id).shape
  const [batch, planes, height, width] = shapeOf(result!) as [number, number, number, number]
  const isFactor = (id: ValueId): boolean => sameShape(shapeOf(id), [1, planes, 1, 1, 16])
  const factors = isFactor(b) ? b : a
  const image = factors === b ? a : b
  const filter = analysis.tensor(valueArg(convolution.args[1]) ?? -1)
  if (batch !== 1 || filter === undefined || !isFactor(factors) || !sameShape(shapeOf(image), shapeOf(result!))) return null
  const settings = [4, 5].map((i) => integersArg(convolution.args[i])?.join())
  const isPointwise = filter.shape[1] === 1 && filter.shape[2] === 1 && settings.join(' ') === '1,1 0,0'
  return isPointwise && height * width * planes * 16 > WORTHWHILE * numelOf(filter.shape) ? { image, factors, convolution } : null
}
