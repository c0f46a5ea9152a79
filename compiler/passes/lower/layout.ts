import { blocksOf, WINOGRAD_POSITIONS } from '../../../runtime/shapes/blocks.js'
import { readTensor } from '../../../runtime/tensor/data.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides } from '../../../runtime/tensor/shape.js'
import { discardPages } from '../../../runtime/tensor/storage.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import type { ConvolutionNode } from '../../graph/compiled.js'
import {
  type Arg,
  constant,
  denseType,
  type Graph,
  type GraphNode,
  type OperatorNode,
  type TensorType,
  value,
  type ValueId,
} from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { floatFormat, floatWeight } from '../../graph/packed-weight.js'
import { callApart, derived } from '../../graph/evaluate.js'
import { constantOf } from '../../graph/shared-constants.js'
import type { FilterForm, Target } from '../../target/target.js'
import { type Analysis, analysisOf, integersArg, isFlag, numberArg, onlyResult } from '../analysis.js'
import type { Blockable, BlockedConvolution, BlockedOperand } from './blocked-operators.js'
import { rowReaders } from './blocked-rows.js'
import type { ConvolutionKind } from './convolution-strategy.js'
import { Editor } from '../editor.js'
import { blockedInputs, blockedRegions } from './layout-regions.js'
import { DEFAULT_OPTIONS, type Pass, type PassOptions } from '../pass.js'

/**
 * Gives the tensors between convolutions the layout [n, c / b, h, w, b] for the target's width b of a block, and their filters
 * [outputs / b, h, w, inputs, b], volumes with a depth in front of the height, where what the kernels save outweighs the reorders at the edges (layout-regions.ts). A sum of
 * two tensors becomes the residual of the convolution that makes one of them.
 *
 *     %3 = aten::conv2d(%0, %1, %2, [2, 2], ...)            %9 = convolution(input=%0, filter=%7, bias=%8, layout="blocks", ...)
 *     %4 = aten::max_pool2d(%3, [3, 3], ...)           →    %10 = pool(input=%9, mode="max", kernel=[3, 3], ...)
 *     %5 = aten::flatten(%4, 1)                             %4 = reorder(input=%10, to="planes", channels=32)
 *                                                           %5 = aten::flatten(%4, 1)
 *
 * Sums are taken in another order: results differ by roundings.
 */
export const layout = (target: Target, options: PassOptions = DEFAULT_OPTIONS): Pass => ({
  name: 'layout',
  run(graph) {
    if (!target.capabilities.blocks) return graph
    const analysis = analysisOf(graph)
    const regions = blockedRegions(graph, analysis, target, options)
    return regions.size === 0 ? graph : new Rewriter(graph, analysis, regions, target).run()
  },
})

class Rewriter {
  private readonly editor: Editor
  /** Values in blocks by what they are elsewhere in the graph. */
  private readonly blocked = new Map<ValueId, ValueId>()
  /** What stands in place of each node. */
  private readonly made = new Map<GraphNode, GraphNode[]>()
  /** Convolutions that can still take a residual, by the value they make. */
  private readonly open = new Map<ValueId, { node: GraphNode; result: ConvolutionNode }>()

  constructor(
    graph: Graph,
    private readonly analysis: Analysis,
    private readonly regions: ReadonlyMap<GraphNode, Blockable>,
    private readonly target: Target,
  ) {
    this.editor = new Editor(graph)
  }

  run(): Graph {
    for (const [node, form] of this.regions) {
      const before: GraphNode[] = []
      const result = onlyResult(node)!
      const made = this.rewrite(node, form, before)
      this.made.set(node, [...before, made])
      if (form.kind === 'mean') this.finishMean(node, form.input, made)
      else this.made.get(node)!.push(...this.leave(result, node))
    }
    for (const [node, by] of this.made) this.editor.replaceNode(node, by)
    return this.editor.finish()
  }

  private rewrite(node: GraphNode, form: Blockable, before: GraphNode[]): GraphNode {
    const input = (id: ValueId): ValueId => this.inBlocks(id, node, before)
    switch (form.kind) {
      case 'convolution':
        return this.convolution(node, form, before)
      case 'pool': {
        return this.replace(node, poolOf(node as OperatorNode, input(form.input)))
      }
      case 'mean':
        return { ...baseOf(node), kind: 'mean', input: input(form.input), channels: this.channelsOf(form.input) }
      case 'elementwise': {
        const sum = this.residual(node as OperatorNode, form.operands)
        if (sum !== null) return sum
        const args = [...(node as OperatorNode).args]
        for (const operand of form.operands) args[operand.place] = value(this.operand(operand, node, before))
        return this.replace(node, { ...(node as OperatorNode), args })
      }
      case 'join': {
        const list: Arg = { kind: 'list', items: form.inputs.map((id) => value(input(id))) }
        return this.replace(node, { ...(node as OperatorNode), args: [list, constant(1)] })
      }
    }
  }

  private channelsOf(id: ValueId): number {
    return this.analysis.type(id).shape[1]!
  }

  private typeInBlocks(id: ValueId): TensorType {
    const [batch, channels, ...spatial] = this.analysis.type(id).shape as [number, number, ...number[]]
    const { blockWidth } = this.target
    const shape = [batch, blocksOf(channels, blockWidth), ...spatial, blockWidth]
    return denseType(DType.float32, shape)
  }

  /** The node with a new result, which is the old one in blocks. */
  private replace(node: GraphNode, by: GraphNode): GraphNode {
    const old = onlyResult(node)!
    const id = this.editor.newValue(this.typeInBlocks(old))
    this.blocked.set(old, id)
    return { ...by, results: [{ kind: 'value', id }] }
  }

  private inBlocks(id: ValueId, reader: GraphNode, before: GraphNode[]): ValueId {
    const known = this.blocked.get(id)
    if (known !== undefined) return known
    const tensor = this.analysis.tensor(id)
    if (tensor !== undefined) {
      const constantId = this.editor.addConstant(this.target.packImage(tensor), `${this.analysis.nameOf(id)} in blocks`)
      this.blocked.set(id, constantId)
      return constantId
    }
    const made = this.editor.newValue(this.typeInBlocks(id))
    this.blocked.set(id, made)
    const base = { results: [{ kind: 'value', id: made }], writes: [], origin: reader.origin } as const
    before.push({ ...base, kind: 'reorder', input: id, to: 'blocks', channels: this.channelsOf(id) })
    return made
  }

  /** What an element-wise operator reads in place of an operand. */
  private operand({ id, as }: BlockedOperand, reader: GraphNode, before: GraphNode[]): ValueId {
    if (as === 'blocks') return this.inBlocks(id, reader, before)
    if (as === 'channels') {
      const numbers = this.analysis.tensor(id)!
      // kernels walk the planes of all images with one distance
      const [batch, , ...spatial] = this.analysis.type(onlyResult(reader)!).shape as [number, number, ...number[]]
      const { blockWidth } = this.target
      const shape = [batch, blocksOf(numbers.numel, blockWidth), ...spatial.map(() => 1), blockWidth]
      const tensor = paddedVector(numbers, blockWidth, shape)
      return this.editor.addConstant(tensor, `${this.analysis.nameOf(id)} in blocks`)
    }
    const type = this.analysis.type(id)
    const shape = [...type.shape, 1]
    const plane = this.editor.newValue({ ...type, shape, strides: contiguousStrides(shape) }, this.analysis.storage(id))
    const args = [value(id), constant(shape)]
    before.push({ kind: 'operator', op: 'aten::reshape', args, results: [{ kind: 'value', id: plane }], writes: [], origin: reader.origin })
    return plane
  }

  /** What brings a value out of the blocks for all that stays as it is: as planes, or as rows of channels. */
  private leave(id: ValueId, node: GraphNode): GraphNode[] {
    const outside = this.analysis.readersOf(id).filter((reader) => {
      const form = this.regions.get(reader)
      return form === undefined || !blockedInputs(form).includes(id)
    })
    const { views, nodes, others } = rowReaders(id, outside, this.analysis)
    const made = others ? [this.fromBlocked(id, node)] : []
    if (views.length === 0) return made
    const [batch, channels, height, width] = this.analysis.type(id).shape as [number, number, number, number]
    const rows = this.dense([batch, height, width, channels])
    made.push(this.outOfBlocks('rows', id, rows, node))
    const tokens = views.find(({ shape }) => shape.length === 3)
    const flat = tokens === undefined ? rows : this.dense(tokens.shape, this.editor.storageOf(rows))
    if (tokens !== undefined) {
      const args = [value(rows), constant([...tokens.shape])]
      made.push({ kind: 'operator', op: 'aten::reshape', args, results: [{ kind: 'value', id: flat }], writes: [], origin: node.origin })
    }
    for (const view of views) this.editor.replaceValue(view.value, view.shape.length === 3 ? flat : rows)
    for (const view of nodes) this.made.set(view, [])
    return made
  }

  private dense(shape: readonly number[], storage?: number): ValueId {
    return this.editor.newValue(denseType(DType.float32, shape), storage)
  }

  private fromBlocked(id: ValueId, node: GraphNode): GraphNode {
    return this.outOfBlocks('planes', id, id, node)
  }

  private outOfBlocks(to: 'planes' | 'rows', id: ValueId, made: ValueId, { origin }: GraphNode): GraphNode {
    const base = { results: [{ kind: 'value', id: made }], writes: [], origin } as const
    return { ...base, kind: 'reorder', input: this.blocked.get(id)!, to, channels: this.channelsOf(id) }
  }

  /** The mean has the shape [n, c, 1, 1] or, of volumes, [n, c, 1, 1, 1]; where the dimensions were not kept, a view follows. */
  private finishMean(node: GraphNode, input: ValueId, made: GraphNode): void {
    const result = onlyResult(node)!
    const type = this.analysis.type(result)
    const { shape: of } = this.analysis.type(input)
    if (type.shape.length === of.length) return
    const shape = of.map((size, d) => (d < 2 ? size : 1))
    const whole = this.editor.newValue({ ...type, shape, strides: contiguousStrides(shape) })
    this.editor.setType(result, type, this.editor.storageOf(whole))
    const args = [value(whole), constant([...type.shape])]
    const view: GraphNode = { ...baseOf(node), kind: 'operator', op: 'aten::reshape', args }
    this.made.set(node, [...this.made.get(node)!.slice(0, -1), { ...made, results: [{ kind: 'value', id: whole }] }, view])
  }

  private convolution(node: GraphNode, form: BlockedConvolution, before: GraphNode[]): GraphNode {
    const { problem, strategy, layer, bias } = form
    const { stride, padding, dilation, groups, clamp } = layer
    const kind = KERNELS[strategy.kind]
    const filter = this.filter(form, node, before)
    const made: ConvolutionNode = {
      ...baseOf(node),
      kind: 'convolution',
      input: strategy.kind === 'few channels' ? form.input : this.inBlocks(form.input, node, before),
      filter: floatWeight(filter, floatFormat(this.editor.typeOf(filter).dtype)),
      bias:
        bias === null
          ? null
          : this.editor.addConstant(paddedVector(bias, this.target.blockWidth), `${this.analysis.nameOf(layer.bias!)} in blocks`),
      residual: null,
      layout: 'blocks',
      strategy: kind,
      ...{ stride, padding, dilation, groups, clamp },
      perGroup: kind === 'grouped' ? [problem.inChannels / groups, problem.outChannels / groups] : [],
      post: null,
      note: `${strategy.kind}: ${strategy.reason}`,
    }
    const result = this.replace(node, made) as ConvolutionNode
    const isOpen = kind !== 'depthwise' && clamp.min === -Infinity && clamp.max === Infinity
    if (isOpen) this.open.set(onlyResult(node)!, { node, result })
    return result
  }

  /** The filter in blocks, in as many bits as it has; those of single channels, which are small, are float32, and so is what Winograd's algorithm multiplies. */
  private filter({ filter, narrow, layer, strategy }: BlockedConvolution, node: GraphNode, before: GraphNode[]): ValueId {
    const kind = KERNELS[strategy.kind]
    const name = `${this.analysis.nameOf(layer.filter.values)} in blocks`
    if (narrow === null) {
      const form: FilterForm = kind === 'winograd' || kind === 'grouped' ? kind : 'direct'
      return this.editor.addConstant(this.target.packFilter(filter, form, layer.groups), name)
    }
    const type = kind === 'depthwise' ? DType.float32 : narrow
    const packed = narrowFilter(filter, type, kind === 'grouped' ? kind : 'direct', layer.groups, this.target)
    const constant = this.editor.addConstant(packed, name)
    if (kind !== 'winograd') return constant
    const [blocks, ...rest] = packed.shape as [number, ...number[]]
    const shape = [WINOGRAD_POSITIONS, blocks, ...rest.slice(0, -4), ...rest.slice(-2)]
    const made = this.editor.newValue(denseType(DType.float32, shape))
    before.push({ kind: 'transformedFilter', filter: constant, results: [{ kind: 'value', id: made }], writes: [], origin: node.origin })
    return made
  }

  /** The convolution that made one of two summands, with the other as its residual; it moves to where the sum was. */
  private residual(node: OperatorNode, operands: readonly BlockedOperand[]): GraphNode | null {
    if (node.op !== 'aten::add.Tensor' || numberArg(named(node, 'alpha')) !== 1) return null
    const inputs = operands.flatMap(({ id, as }) => (as === 'blocks' ? [id] : []))
    if (inputs.length !== 2 || inputs[0] === inputs[1]) return null
    const [a, b] = inputs as [ValueId, ValueId]
    const sizes = (id: ValueId): string => this.analysis.type(id).shape.join()
    if (sizes(a) !== sizes(b)) return null
    // of two, the one that was made last: the other is there already
    const order = [...this.open.keys()]
    const candidates = [a, b].filter((id) => this.open.has(id) && this.analysis.onlyReader(id) === node)
    candidates.sort((x, y) => order.indexOf(y) - order.indexOf(x))
    const [from] = candidates
    const other = from === a ? b : a
    const residual = this.blocked.get(other)
    if (from === undefined || residual === undefined) return null
    const { node: producer, result } = this.open.get(from)!
    this.open.delete(from)
    this.made.set(
      producer,
      this.made.get(producer)!.filter((n) => n !== result),
    )
    return this.replace(node, { ...result, residual, note: `${result.note ?? ''}, with a residual` })
  }
}

/** The kernel of a strategy over blocks. */
const KERNELS: Readonly<Record<ConvolutionKind, ConvolutionNode['strategy']>> = {
  'few channels': 'direct',
  pointwise: 'direct',
  direct: 'direct',
  winograd: 'winograd',
  grouped: 'grouped',
  depthwise: 'depthwise',
  product: 'product',
}

/** A filter in blocks, by way of float32, which one of single channels stays; others are of 16 bits. */
function narrowFilter(filter: Tensor, type: DType, form: FilterForm, groups: number, target: Target): Tensor {
  const to = (t: Tensor, type: DType): Tensor => callApart('aten::to.dtype', [t, type, false, true, null])[0] as Tensor
  const [packed] = derived(`${form} filter in blocks`, [filter, groups, type], () => {
    const floats = to(filter, DType.float32)
    const made = target.packFilter(floats, form, groups)
    floats.release()
    if (type === DType.float32) return [made]
    const narrow = to(made, type)
    made.release()
    // a mapped file keeps the numbers
    discardPages(filter.storage)
    return [narrow]
  }) as [Tensor]
  return packed
}

/** A pool over blocks. */
function poolOf(node: OperatorNode, input: ValueId): GraphNode {
  const isMax = node.op.startsWith('aten::max_pool')
  const list = (name: string): readonly number[] => integersArg(named(node, name))!
  const window = {
    kernel: list('kernel_size'),
    stride: list('stride'),
    padding: list('padding'),
    ceil: isFlag(named(node, 'ceil_mode'), true),
  }
  return isMax
    ? { ...baseOf(node), kind: 'pool', mode: 'max', input, ...window, dilation: list('dilation'), countPadding: false }
    : {
        ...baseOf(node),
        kind: 'pool',
        mode: 'average',
        input,
        ...window,
        dilation: [],
        countPadding: isFlag(named(node, 'count_include_pad'), true),
      }
}

/** The vector with zeros up to a whole number of blocks, as often as the shape has room for it. */
export function paddedVector(t: Tensor, blockWidth: number, shape = [blocksOf(t.numel, blockWidth) * blockWidth]): Tensor {
  const size = blocksOf(t.numel, blockWidth) * blockWidth
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1))
  for (let at = 0; at < data.length; at += size) data.set(readTensor(t) as Float32Array, at)
  return constantOf(data, shape)
}
