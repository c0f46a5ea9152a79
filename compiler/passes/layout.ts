import { BLOCK, blocksOf } from '../../runtime/backends/cpu/support/blocked.js'
import { readTensor } from '../../runtime/tensor/data.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { contiguousStrides } from '../../runtime/tensor/shape.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOnce } from '../graph/evaluate.js'
import { constant, type Graph, type GraphNode, NONE, type TensorType, value, type ValueId } from '../graph/graph.js'
import { constantOf } from '../graph/shared-constants.js'
import { Analysis, numberArg, onlyResult, valueArg } from './analysis.js'
import type { Blockable, BlockedConvolution, BlockedOperand } from './blocked-operators.js'
import { rowReaders } from './blocked-rows.js'
import { Editor } from './editor.js'
import { blockedInputs, blockedRegions } from './layout-regions.js'
import { DEFAULT_OPTIONS, type Pass } from './pass.js'

/**
 * Gives the tensors between convolutions the layout [n, c / 16, h, w, 16], and their filters [outputs / 16, h, w, inputs, 16], volumes
 * with a depth in front of the height, where what the kernels save outweighs the reorders at the edges (layout-regions.ts). A sum of
 * two tensors becomes the residual of the convolution that makes one of them.
 *
 *     %3 = aten::conv2d(%0, %1, %2, [2, 2], ...)            %9 = ptlite::blocked_convolution(%0, %7, %8, None, [2, 2], ...)
 *     %4 = aten::max_pool2d(%3, [3, 3], ...)           →    %10 = ptlite::blocked_max_pool(%9, [3, 3], ...)
 *     %5 = aten::flatten(%4, 1)                             %4 = ptlite::from_blocked(%10, 32)
 *                                                           %5 = aten::flatten(%4, 1)
 *
 * Sums are taken in another order: results differ by roundings.
 */
export const layout: Pass = {
  name: 'layout',
  run(graph, options = DEFAULT_OPTIONS) {
    const analysis = new Analysis(graph)
    const regions = blockedRegions(graph, analysis, options)
    return regions.size === 0 ? graph : new Rewriter(graph, analysis, regions).run()
  },
}

class Rewriter {
  private readonly editor: Editor
  /** Values in blocks by what they are elsewhere in the graph. */
  private readonly blocked = new Map<ValueId, ValueId>()
  /** What stands in place of each node. */
  private readonly made = new Map<GraphNode, GraphNode[]>()
  /** Convolutions that can still take a residual, by the value they make. */
  private readonly open = new Map<ValueId, { node: GraphNode; result: GraphNode }>()

  constructor(
    private readonly graph: Graph,
    private readonly analysis: Analysis,
    private readonly regions: ReadonlyMap<GraphNode, Blockable>,
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
        const op = node.op.startsWith('aten::max_pool') ? 'ptlite::blocked_max_pool' : 'ptlite::blocked_avg_pool'
        return this.replace(node, { ...node, op, args: [value(input(form.input)), ...node.args.slice(1, 6)] })
      }
      case 'mean':
        return { ...node, op: 'ptlite::blocked_mean', args: [value(input(form.input)), constant(this.channelsOf(form.input))] }
      case 'elementwise': {
        const sum = this.residual(node, form.operands)
        if (sum !== null) return sum
        const args = [...node.args]
        for (const operand of form.operands) args[operand.place] = value(this.operand(operand, node, before))
        return this.replace(node, { ...node, args })
      }
      case 'join': {
        const items = form.inputs.map((id) => value(input(id)))
        return this.replace(node, { ...node, args: [{ kind: 'list', items }, constant(1)] })
      }
    }
  }

  private channelsOf(id: ValueId): number {
    return this.analysis.type(id).shape[1]!
  }

  private typeInBlocks(id: ValueId): TensorType {
    const [batch, channels, ...spatial] = this.analysis.type(id).shape as [number, number, ...number[]]
    const shape = [batch, blocksOf(channels), ...spatial, BLOCK]
    return { dtype: DType.float32, shape, strides: contiguousStrides(shape), offset: 0, quant: null }
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
      const [reordered] = callOnce('ptlite::to_blocked', [tensor]) as [Tensor]
      const constantId = this.editor.addConstant(reordered, `${this.nameOf(id)} in blocks`)
      this.blocked.set(id, constantId)
      return constantId
    }
    const made = this.editor.newValue(this.typeInBlocks(id))
    this.blocked.set(id, made)
    const args = [value(id)]
    before.push({ op: 'ptlite::to_blocked', args, results: [{ kind: 'value', id: made }], writes: [], origin: reader.origin })
    return made
  }

  private nameOf(id: ValueId): string {
    return this.graph.constants.find((c) => c.id === id)!.name
  }

  /** What an element-wise operator reads in place of an operand. */
  private operand({ id, as }: BlockedOperand, reader: GraphNode, before: GraphNode[]): ValueId {
    if (as === 'blocks') return this.inBlocks(id, reader, before)
    if (as === 'channels') {
      const numbers = this.analysis.tensor(id)!
      // kernels walk the planes of all images with one distance
      const [batch, , ...spatial] = this.analysis.type(onlyResult(reader)!).shape as [number, number, ...number[]]
      const tensor = paddedVector(numbers, [batch, blocksOf(numbers.numel), ...spatial.map(() => 1), BLOCK])
      return this.editor.addConstant(tensor, `${this.nameOf(id)} in blocks`)
    }
    const type = this.analysis.type(id)
    const shape = [...type.shape, 1]
    const plane = this.editor.newValue({ ...type, shape, strides: contiguousStrides(shape) }, this.analysis.storage(id))
    const args = [value(id), constant(shape)]
    before.push({ op: 'aten::reshape', args, results: [{ kind: 'value', id: plane }], writes: [], origin: reader.origin })
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
    made.push(this.outOfBlocks('ptlite::blocked_rows', id, rows, node))
    const tokens = views.find(({ shape }) => shape.length === 3)
    const flat = tokens === undefined ? rows : this.dense(tokens.shape, this.editor.storageOf(rows))
    if (tokens !== undefined) {
      const args = [value(rows), constant([...tokens.shape])]
      made.push({ op: 'aten::reshape', args, results: [{ kind: 'value', id: flat }], writes: [], origin: node.origin })
    }
    for (const view of views) this.editor.replaceValue(view.value, view.shape.length === 3 ? flat : rows)
    for (const view of nodes) this.made.set(view, [])
    return made
  }

  private dense(shape: readonly number[], storage?: number): ValueId {
    return this.editor.newValue({ dtype: DType.float32, shape, strides: contiguousStrides(shape), offset: 0, quant: null }, storage)
  }

  private fromBlocked(id: ValueId, node: GraphNode): GraphNode {
    return this.outOfBlocks('ptlite::from_blocked', id, id, node)
  }

  private outOfBlocks(op: string, id: ValueId, to: ValueId, { origin }: GraphNode): GraphNode {
    const args = [value(this.blocked.get(id)!), constant(this.channelsOf(id))]
    return { op, args, results: [{ kind: 'value', id: to }], writes: [], origin }
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
    const view = { ...node, op: 'aten::reshape', args: [value(whole), constant([...type.shape])] }
    this.made.set(node, [...this.made.get(node)!.slice(0, -1), { ...made, results: [{ kind: 'value', id: whole }] }, view])
  }

  private convolution(node: GraphNode, form: BlockedConvolution, before: GraphNode[]): GraphNode {
    const { problem, strategy } = form
    const nameOf = (i: number): string => this.graph.constants.find((c) => c.id === valueArg(node.args[i]))!.name
    const tensor = (i: number): Tensor | undefined => this.analysis.tensor(valueArg(node.args[i]) ?? -1)
    const grouped = strategy.kind === 'grouped'
    const transform = grouped ? 'grouped_filter' : 'filter'
    const [filter] = callOnce(strategy.kind === 'winograd' ? 'ptlite::winograd_filter' : `ptlite::blocked_${transform}`, [
      tensor(1)!,
      ...(grouped ? [problem.groups] : []),
    ]) as [Tensor]
    const bias = tensor(2)
    const filterArg = value(this.editor.addConstant(filter, `${nameOf(1)} in blocks`))
    const biasArg = bias === undefined ? NONE : value(this.editor.addConstant(paddedVector(bias), `${nameOf(2)} in blocks`))
    const settings = [problem.stride, problem.padding, problem.dilation].map((list) => constant([...list]))
    const limits = [constant(new Float(form.min)), constant(new Float(form.max))]
    const note = `${strategy.kind}: ${strategy.reason}`
    if (strategy.kind === 'depthwise') {
      const args = [value(this.inBlocks(form.input, node, before)), filterArg, biasArg, ...settings, ...limits]
      return this.replace(node, { ...node, op: 'ptlite::blocked_depthwise', args, note })
    }
    const input = strategy.kind === 'few channels' ? form.input : this.inBlocks(form.input, node, before)
    const ofGroups = [problem.groups, problem.inChannels / problem.groups, problem.outChannels / problem.groups].map((n) => constant(n))
    const [op, places] =
      strategy.kind === 'winograd'
        ? ['ptlite::winograd_convolution', [settings[1]!]]
        : grouped
          ? ['ptlite::blocked_grouped_convolution', [...settings, ...ofGroups]]
          : ['ptlite::blocked_convolution', settings]
    const made = this.replace(node, { ...node, op, args: [value(input), filterArg, biasArg, NONE, ...places, ...limits], note })
    if (form.min === -Infinity && form.max === Infinity) this.open.set(onlyResult(node)!, { node, result: made })
    return made
  }

  /** The convolution that made one of two summands, with the other as its residual; it moves to where the sum was. */
  private residual(node: GraphNode, operands: readonly BlockedOperand[]): GraphNode | null {
    if (node.op !== 'aten::add.Tensor' || numberArg(node.args[2]) !== 1) return null
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
    if (from === undefined || !this.blocked.has(other)) return null
    const { node: producer, result } = this.open.get(from)!
    this.open.delete(from)
    const args = [...result.args]
    args[3] = value(this.blocked.get(other)!)
    this.made.set(
      producer,
      this.made.get(producer)!.filter((n) => n !== result),
    )
    return this.replace(node, { ...result, args, note: `${result.note ?? ''}, with a residual` })
  }
}

/** The vector with zeros up to a whole number of blocks, as often as the shape has room for it. */
export function paddedVector(t: Tensor, shape = [blocksOf(t.numel) * BLOCK]): Tensor {
  const size = blocksOf(t.numel) * BLOCK
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1))
  for (let at = 0; at < data.length; at += size) data.set(readTensor(t) as Float32Array, at)
  return constantOf(data, shape)
}
