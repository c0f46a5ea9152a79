import { sparse_linear } from '../../runtime/backends/cpu/sparse-linear.js'
import { clamped_linear } from '../../runtime/backends/cpu/compiled.js'
import { zeroBlockShare } from '../../runtime/backends/cpu/support/sparse-weight.js'
import { writeTensor } from '../../runtime/tensor/data.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { contiguousStrides, numelOf, sameShape } from '../../runtime/tensor/shape.js'
import { empty, type Tensor } from '../../runtime/tensor/tensor.js'
import { constant, type GraphNode } from '../graph/graph.js'
import { Analysis, isNone, numberArg, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/** Below this share of zero blocks the dense kernel is faster wherever it was measured. */
const LEAST_SHARE = 0.6
const TRIALS = 3

/**
 * Linear layers whose weight has enough blocks of zeros, and whose block-sparse kernel is the faster one here, by a trial of both:
 *
 *     %3 = ptlite::linear(%0, %1, %2, 0., inf)   →   %3 = ptlite::sparse_linear(%0, %1, %2, 0., inf)
 */
export const blockSparse: Pass = {
  name: 'block sparse',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const sparse = sparseOf(node, analysis)
      if (sparse === null) continue
      editor.replaceNode(node, [sparse])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function sparseOf(node: GraphNode, analysis: Analysis): GraphNode | null {
  if (node.op !== 'aten::linear' && node.op !== 'ptlite::linear') return null
  const input = valueArg(node.args[0])
  const weightId = valueArg(node.args[1])
  const biasId = valueArg(node.args[2])
  const weight = weightId === undefined ? undefined : analysis.tensor(weightId)
  const bias = isNone(node.args[2]) ? null : biasId === undefined ? undefined : analysis.tensor(biasId)
  if (input === undefined || weight === undefined || bias === undefined || !analysis.isPure(node)) return null
  const { dtype, shape, strides } = analysis.type(input)
  if (dtype !== DType.float32 || shape.length === 0 || !sameShape(strides, contiguousStrides(shape)) || numelOf(shape) === 0) return null
  if (weight.dim !== 2 || ![weight, bias].every((t) => t === null || (t.type === DType.float32 && t.isContiguous))) return null
  const [min, max] = node.op === 'aten::linear' ? [-Infinity, Infinity] : [numberArg(node.args[3]), numberArg(node.args[4])]
  if (min === undefined || max === undefined || zeroBlockShare(weight) < LEAST_SHARE) return null
  if (!isFaster(weight, bias, shape, min, max)) return null
  return { ...node, op: 'ptlite::sparse_linear', args: [...node.args.slice(0, 3), constant(new Float(min)), constant(new Float(max))] }
}

/** Times both kernels on an input of this shape; the best of a few runs each, in turns. */
function isFaster(weight: Tensor, bias: Tensor | null, shape: readonly number[], min: number, max: number): boolean {
  const x = empty([...shape], DType.float32)
  writeTensor(x, new Float32Array(x.numel))
  const time = (kernel: typeof sparse_linear): number => {
    const start = performance.now()
    kernel(x, weight, bias, min, max).release()
    return performance.now() - start
  }
  let [sparse, dense] = [Infinity, Infinity]
  try {
    // the first run of each makes what it keeps
    time(sparse_linear)
    time(clamped_linear)
    for (let i = 0; i < TRIALS; i++) {
      sparse = Math.min(sparse, time(sparse_linear))
      dense = Math.min(dense, time(clamped_linear))
    }
  } finally {
    x.release()
  }
  return sparse < dense
}
