import { readTensor } from '../../../runtime/tensor/data.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { constantOf } from '../../graph/shared-constants.js'
import {
  type Analysis,
  analysisOf,
  inputOf,
  isDenseFloat,
  isFlag,
  isNone,
  numberArg,
  onlyResult,
  operatorsOf,
  valueArg,
} from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/**
 * Makes element-wise steps of what has numbers for each channel: batch norm over fixed statistics that no product before it could
 * take in, and prelu. Steps become part of chains and of the kernels before them.
 *
 *     %6 = aten::batch_norm(%5, %gamma, %beta, %mean, %var, False, ...)   →   %7 = aten::mul.Tensor(%5, %scale)      ([c, 1, 1])
 *                                                                             %6 = aten::add.Tensor(%7, %shift, 1)
 *     %8 = aten::prelu(%6, %slopes)                                       →   %9 = aten::mul.Tensor(%6, %slopes)     (in (0, 1])
 *                                                                             %8 = aten::maximum(%6, %9)
 *
 * Results of batch norms differ by roundings.
 */
export const channelSteps: Pass = {
  name: 'channel-wise steps',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const steps = new Steps(node, analysis, editor)
      const done = node.op === 'aten::batch_norm' ? batchNorm(node, steps) : node.op === 'aten::prelu' && prelu(node, steps)
      if (!done) continue
      editor.replaceNode(node, steps.nodes)
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** The nodes that stand for one on dense float32 tensors [n, c, ...]. */
class Steps {
  readonly nodes: OperatorNode[] = []
  readonly input: ValueId | null
  readonly channels: number
  private readonly result: ValueId

  constructor(
    private readonly node: OperatorNode,
    private readonly analysis: Analysis,
    private readonly editor: Editor,
  ) {
    this.result = onlyResult(node) ?? -1
    const id = inputOf(node)
    const fits = id !== undefined && this.result >= 0 && analysis.isPure(node) && [id, this.result].every((v) => this.isDense(v))
    this.input = fits ? id : null
    this.channels = this.input === null ? 0 : analysis.type(this.input).shape[1]!
  }

  private isDense(id: ValueId): boolean {
    const type = this.analysis.type(id)
    return type.shape.length >= 2 && !type.shape.includes(0) && isDenseFloat(type)
  }

  /** The numbers of an argument that is a constant with one for each channel; null for None, undefined for others. */
  numbers(arg: Arg | undefined): Float32Array | null | undefined {
    if (isNone(arg)) return null
    const id = valueArg(arg)
    const tensor: Tensor | undefined = id === undefined ? undefined : this.analysis.tensor(id)
    if (tensor?.type !== DType.float32 || !sameShape(tensor.shape, [this.channels])) return undefined
    return readTensor(tensor) as Float32Array
  }

  /** A constant [c, 1, ...] named after the node's argument `i`. */
  perChannel(data: Float32Array, i: number, what: string): Arg {
    const rank = this.analysis.type(this.result).shape.length
    const name = this.analysis.graph.constants.find((c) => c.id === valueArg(this.node.args[i]))?.name ?? this.node.op
    const shape = [this.channels, ...new Array<number>(rank - 2).fill(1)]
    return value(this.editor.addConstant(constantOf(data, shape), `${name}${what}`))
  }

  /** Adds a step; the last one gives the result of the node. */
  add(op: string, args: readonly Arg[], last = false): Arg {
    const id = last ? this.result : this.editor.newValue(this.analysis.type(this.result))
    this.nodes.push({ ...this.node, op, args, results: [{ kind: 'value', id }] })
    return value(id)
  }
}

/** Vectors of a batch norm, a number for each channel. */
const NORM_VECTORS = ['weight', 'bias', 'running_mean', 'running_var'] as const

function batchNorm(node: OperatorNode, steps: Steps): boolean {
  const eps = numberArg(named(node, 'eps'))
  if (steps.input === null || !isFlag(named(node, 'training'), false) || eps === undefined) return false
  const [gamma, beta, mean, variance] = NORM_VECTORS.map((name) => steps.numbers(named(node, name)))
  if (gamma === undefined || beta === undefined || !mean || !variance) return false
  const scale = Float64Array.from(variance, (v, i) => (gamma?.[i] ?? 1) / Math.sqrt(v + eps))
  const shift = Float32Array.from(scale, (s, i) => (beta?.[i] ?? 0) - mean[i]! * s)
  const scaled = steps.add('aten::mul.Tensor', [value(steps.input), steps.perChannel(Float32Array.from(scale), 4, ' as scale')])
  steps.add('aten::add.Tensor', [scaled, steps.perChannel(shift, 3, ' as shift'), constant(1)], true)
  return true
}

function prelu(node: OperatorNode, steps: Steps): boolean {
  const slopes = steps.input === null ? null : steps.numbers(named(node, 'weight'))
  if (steps.input === null || !slopes?.every(Number.isFinite)) return false
  const x = value(steps.input)
  const factors = steps.perChannel(slopes, 1, ' by channel')
  if (slopes.every((slope) => slope > 0 && slope <= 1)) {
    steps.add('aten::maximum', [x, steps.add('aten::mul.Tensor', [x, factors])], true)
    return true
  }
  const below = steps.add('aten::mul.Tensor', [steps.add('aten::clamp_max', [x, constant(0)]), factors])
  steps.add('aten::add.Tensor', [steps.add('aten::clamp_min', [x, constant(0)]), below, constant(1)], true)
  return true
}
