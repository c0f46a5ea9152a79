import { numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import type { ConvolutionNode } from '../../graph/compiled.js'
import type { OperatorNode, ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { floatWeight } from '../../graph/packed-weight.js'
import type { Target } from '../../target/target.js'
import { type Analysis, analysisOf, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { isPointwise } from '../layers.js'
import type { Pass } from '../pass.js'

/** How many times larger than a filter an image has to be. */
const WORTHWHILE = 1.5

/**
 * A factor per channel, as of squeeze and excitation, on all that a pointwise convolution over blocks of channels reads becomes one on its
 * filter, which is smaller: the image is neither read nor written once more.
 *
 *     %2 = aten::mul.Tensor(%0, %1)                           %2 = scaledFilter(filter=%w, factors=%1)
 *     %3 = convolution(input=%2, filter=%w, ...)        →     %3 = convolution(input=%0, filter=%2, ...)
 *
 * Results differ by roundings.
 */
export const scaledFilters = (target: Target): Pass => ({
  name: 'scaled filters',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const scaled = node.op === 'aten::mul.Tensor' ? scaledInput(node, analysis, target) : null
      if (scaled === null) continue
      const { image, factors, convolution } = scaled
      const filter = convolution.filter.values
      const made = editor.newValue(analysis.type(filter))
      editor.replaceNode(node, [{ ...baseOf(node), kind: 'scaledFilter', filter, factors, results: [{ kind: 'value', id: made }] }])
      editor.replaceNode(convolution, [{ ...convolution, input: image, filter: floatWeight(made) }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
})

interface ScaledInput {
  readonly image: ValueId
  readonly factors: ValueId
  readonly convolution: ConvolutionNode
}

/** The product of one image and one factor per channel that only a pointwise convolution reads. */
function scaledInput(node: OperatorNode, analysis: Analysis, { blockWidth }: Target): ScaledInput | null {
  const [a, b] = node.args.map(valueArg)
  const result = onlyResult(node)
  const convolution = result === undefined ? undefined : analysis.onlyReader(result)
  if (a === undefined || b === undefined || convolution?.kind !== 'convolution' || convolution.layout !== 'blocks') return null
  if (convolution.filter.format !== 'f32') return null
  if (convolution.strategy !== 'direct' || convolution.input !== result || !analysis.isPure(node) || !analysis.isPure(convolution))
    return null
  const shapeOf = (id: ValueId): readonly number[] => analysis.type(id).shape
  const [batch, planes, height, width] = shapeOf(result!) as [number, number, number, number]
  const isFactor = (id: ValueId): boolean => sameShape(shapeOf(id), [1, planes, 1, 1, blockWidth])
  const factors = isFactor(b) ? b : a
  const image = factors === b ? a : b
  const filter = analysis.tensor(convolution.filter.values)
  if (batch !== 1 || filter === undefined || !isFactor(factors) || !sameShape(shapeOf(image), shapeOf(result!))) return null
  return isPointwise(convolution, filter.shape.slice(1, 3)) && height * width * planes * blockWidth > WORTHWHILE * numelOf(filter.shape)
    ? { image, factors, convolution }
    : null
}
