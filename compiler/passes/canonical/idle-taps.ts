import { isRoundedFilter } from '../../../runtime/operators/support/rounded-weight.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { callOnce } from '../../graph/evaluate.js'
import { constant, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputOf, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { convolutionSettings } from '../layers.js'
import type { Pass } from '../pass.js'

const CONVOLUTIONS = new Set(['aten::conv1d', 'aten::conv2d', 'aten::conv3d'])

/**
 * Leaves out the outer taps of filters that meet padding alone, as those of a dilation that exceeds the image do, or the slices in front of
 * and behind a single one in a video network.
 *
 *     %3: float32[1, 8, 16, 16] = aten::conv2d(%0, %1, %2, [1, 1], [24, 24], [24, 24], 1)          (%1: [8, 8, 3, 3])
 *     %3: float32[1, 8, 16, 16] = aten::conv2d(%0, %4, %2, [1, 1], [0, 0], [24, 24], 1)       ←    (%4: [8, 8, 1, 1])
 */
export const idleTaps: Pass = {
  name: 'idle taps',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const idle = CONVOLUTIONS.has(node.op) ? idleOf(node, analysis) : null
      if (idle === null) continue
      const { taps, weight, stride, padding, dilation } = idle
      let narrowed = weight
      for (const [d, count] of taps.entries()) {
        if (count > 0) [narrowed] = callOnce('aten::narrow', [narrowed, d + 2, count, weight.shape[d + 2]! - 2 * count]) as [Tensor]
      }
      const [dense] = callOnce('aten::contiguous', [narrowed, 0]) as [Tensor]
      const name = analysis.nameOf(valueArg(named(node, 'weight'))!)
      const args = [...node.args]
      args[1] = value(editor.addConstant(dense, `${name} without idle taps`))
      const settings = [stride, padding.map((size, d) => size - taps[d]! * dilation[d]!), dilation]
      args.splice(3, 3, ...settings.map((list) => constant(list)))
      editor.replaceNode(node, [{ ...node, args }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

interface Idle {
  readonly weight: Tensor
  readonly stride: number[]
  readonly padding: number[]
  readonly dilation: number[]
  /** How many taps are idle at each end, for each dimension. */
  readonly taps: readonly number[]
}

/** What a convolution with constant filters can leave out; null for nothing. */
function idleOf(node: OperatorNode, analysis: Analysis): Idle | null {
  const [input, result] = [inputOf(node), onlyResult(node)]
  const weight = analysis.tensor(valueArg(named(node, 'weight')) ?? -1)
  // which is rounded as the module has it
  if (weight !== undefined && isRoundedFilter(weight, numberArg(named(node, 'groups')))) return null
  const settings = convolutionSettings(node)
  if (input === undefined || result === undefined || weight?.type !== DType.float32 || settings === null || !analysis.isPure(node))
    return null
  const dims = weight.dim - 2
  const sizesOf = (id: ValueId): readonly number[] => analysis.type(id).shape.slice(-dims)
  const [ins, outs] = [sizesOf(input), sizesOf(result)]
  const { stride, padding, dilation } = settings
  if ([stride, padding, dilation].some((list) => list.length !== dims) || [...ins, ...outs].includes(0)) return null
  const taps = ins.map((size, d) => {
    const isUsed = (tap: number): boolean => {
      const start = tap * dilation[d]! - padding[d]!
      // the first window in which the tap is not in front of the image
      const window = start >= 0 ? 0 : Math.ceil(-start / stride[d]!)
      return window < outs[d]! && start + window * stride[d]! < size
    }
    const kernel = weight.shape[d + 2]!
    let idle = 0
    while (2 * (idle + 1) < kernel && padding[d]! >= (idle + 1) * dilation[d]! && !isUsed(idle) && !isUsed(kernel - 1 - idle)) idle++
    return idle
  })
  return taps.some((count) => count > 0) ? { weight, stride, padding, dilation, taps } : null
}
