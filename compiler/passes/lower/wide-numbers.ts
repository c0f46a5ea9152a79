import { isHalf } from '../../../runtime/tensor/half.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides, isContiguous } from '../../../runtime/tensor/shape.js'
import { JitAlgorithm } from '../../../runtime/native/generated/kernels.js'
import { named } from '../../graph/arguments.js'
import type { ConvolutionNode } from '../../graph/compiled.js'
import { callOnce } from '../../graph/evaluate.js'
import {
  constant,
  type Graph,
  type GraphNode,
  mapArg,
  NONE,
  type OperatorNode,
  type TensorType,
  value,
  type ValueId,
} from '../../graph/graph.js'
import { baseOf, usesOf } from '../../graph/node.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { type Analysis, analysisOf, inputOf, isFlag, isNone, numberArg, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import { elementwiseSteps } from '../fuse/elementwise-operators.js'
import { asConvolution } from '../layers.js'
import type { Pass, PassOptions } from '../pass.js'
import type { Target } from '../../target/target.js'
import { blocksSuit } from './blocked-operators.js'

/**
 * Convolutions of images of 16-bit floats, layers with weights of integers between rows of them, and what works on their results, keep numbers in float32, rounded to
 * 16 bits where they were: that is what their kernels compute, what blocks of channels hold, and rounding becomes a step of the kernel that makes the numbers. Filters
 * stay in 16 bits.
 *
 *     %3: bfloat16[...] = aten::conv2d(%0, %1, %2, ...)          %5: float32[...] = aten::to.dtype(%0, 6, ...)
 *     %4: bfloat16[...] = aten::relu(%3)                    →    %6: float32[...] = convolution(input=%5, filter=(%1, "bf16", ...), bias=%7, ...)
 *                                                                %8: float32[...] = ptlite::rounded(%6, 15)
 *                                                                %9: float32[...] = aten::relu(%8)
 *                                                                %4: bfloat16[...] = aten::to.dtype(%9, 15, ...)
 *
 * The same sums and roundings: results differ by the order of sums. Where tiles multiply bfloat16, its convolutions stay products of that.
 */
export const wideNumbers = (target: Target, options: PassOptions): Pass => ({
  name: 'numbers of 16 bits',
  run(graph) {
    const analysis = analysisOf(graph)
    const forms = formsOf(graph, analysis, target, options)
    return forms.size === 0 ? graph : new Rewriter(graph, analysis, forms).run()
  },
})

/**
 * What becomes of a node: a convolution, another operator whose result is rounded or is not, or a view; a cast of what a layer has computed, or to what the next one
 * reads.
 */
type Form =
  | { readonly kind: 'convolution'; readonly layer: ConvolutionNode }
  | { readonly kind: 'rounded' | 'exact' | 'view' | 'narrowing' | 'widening' }

/** Operators that only move numbers, or choose among them. */
const EXACT = new Set(
  ['relu', 'max_pool1d', 'max_pool2d', 'max_pool3d', 'contiguous', 'upsample_nearest2d', 'upsample_nearest2d.vec', 'cat'].map(
    (name) => `aten::${name}`,
  ),
)

/** Operators that show a part of memory, or all of it. */
const VIEWS = new Set(['reshape', 'permute', 'slice.Tensor', 'select.int', 'unsqueeze', 'squeeze.dim'].map((name) => `aten::${name}`))

/** Operators that compute in float32 whatever their dtype is, and round once. */
const ROUNDED = new Set(
  [
    ...['avg_pool2d', 'avg_pool3d', 'adaptive_avg_pool2d', 'adaptive_avg_pool3d'],
    ...['conv_transpose2d.input', 'conv_transpose3d.input', 'rms_norm', 'layer_norm'],
  ].map((name) => `aten::${name}`),
)

function formsOf(graph: Graph, analysis: Analysis, target: Target, options: PassOptions): Map<GraphNode, Form> {
  const forms = new Map<GraphNode, Form>()
  const isWide = (id: ValueId): boolean => {
    const producer = analysis.producer(id)
    return producer !== undefined && forms.has(producer)
  }
  const shown = storagesOfViews(graph)
  for (const node of operatorsOf(graph)) {
    const result = onlyResult(node)
    if (result === undefined || !analysis.isPure(node) || analysis.type(result).shape.includes(0)) continue
    const form = CASTS.has(node.op)
      ? castOf(node, result, isWide, shown, analysis)
      : formOf(node, result, isWide, analysis, target, options)
    if (form !== null) forms.set(node, form)
  }
  // views and casts that nothing in float32 reads
  for (const node of [...graph.nodes].reverse()) {
    const kind = forms.get(node)?.kind
    const isIdle = (kind === 'view' || kind === 'narrowing') && !analysis.readersOf(onlyResult(node)!).some((reader) => forms.has(reader))
    if (isIdle) forms.delete(node)
  }
  return forms
}

/** Memory that several values show. */
function storagesOfViews({ values }: Graph): ReadonlySet<number> {
  const [once, again] = [new Set<number>(), new Set<number>()]
  for (const { storage } of values.values()) (once.has(storage) ? again : once).add(storage)
  return again
}

const CASTS = new Set(['aten::to.dtype', 'aten::_to_copy'])

/** A cast of what a layer has computed to 16 bits, or of numbers of 16 bits to float32. */
function castOf(
  node: OperatorNode,
  result: ValueId,
  isWide: (id: ValueId) => boolean,
  shown: ReadonlySet<number>,
  analysis: Analysis,
): Form | null {
  const input = inputOf(node)
  if (input === undefined) return null
  const [from, to] = [input, result].map((id) => analysis.type(id)) as [TensorType, TensorType]
  if (![from, to].every(({ shape, strides }) => isContiguous(shape, strides))) return null
  if (isHalf(to.dtype)) {
    const producer = analysis.producer(input)
    const isLayer = producer?.kind === 'linear' && producer.weight.scales !== null && from.dtype === DType.float32
    return isLayer ? { kind: 'narrowing' } : null
  }
  const isWidened = to.dtype === DType.float32 && isHalf(from.dtype) && isWide(input)
  return isWidened && !analysis.isReturned(result) && !shown.has(analysis.storage(result)) ? { kind: 'widening' } : null
}

function formOf(
  node: OperatorNode,
  result: ValueId,
  isWide: (id: ValueId) => boolean,
  analysis: Analysis,
  target: Target,
  options: PassOptions,
): Form | null {
  const { dtype, shape, strides } = analysis.type(result)
  const uses = usesOf(node)
  if (!isHalf(dtype) || !uses.every((id) => fits(id, node, dtype, analysis))) return null
  const isShown = uses.some((id) => analysis.storage(id) === analysis.storage(result))
  if (!isShown && !isContiguous(shape, strides)) return null
  const isProduct = dtype === DType.bfloat16 && target.capabilities.tiles
  const form =
    (isProduct ? null : convolution(node, analysis, target, options)) ?? (uses.some(isWide) ? stepOf(node, isShown, dtype, analysis) : null)
  return form !== null && (form.kind === 'view') === isShown ? form : null
}

/** Whether a node reads a value of its own dtype; the numbers of batch norms may be float32. */
function fits(id: ValueId, node: OperatorNode, dtype: DType, analysis: Analysis): boolean {
  const type = analysis.type(id)
  return type.dtype === dtype || (node.op === 'aten::batch_norm' && type.dtype === DType.float32 && id !== inputOf(node))
}

function convolution(node: OperatorNode, analysis: Analysis, target: Target, options: PassOptions): Form | null {
  const layer = asConvolution(node, analysis)
  if (layer === null || !blocksSuit(layer, analysis, target, options)) return null
  return { kind: 'convolution', layer }
}

function stepOf(node: OperatorNode, isShown: boolean, dtype: DType, analysis: Analysis): Form | null {
  if (VIEWS.has(node.op)) return { kind: isShown ? 'view' : 'exact' }
  if (EXACT.has(node.op)) return { kind: 'exact' }
  if (ROUNDED.has(node.op) || (node.op === 'aten::mean.dim' && isNone(named(node, 'dtype')))) return { kind: 'rounded' }
  if (node.op === 'aten::batch_norm') return hasStatistics(node, analysis) ? { kind: 'rounded' } : null
  if (node.op === 'aten::constant_pad_nd') return numberArg(named(node, 'value')) === 0 ? { kind: 'exact' } : null
  const steps = /^aten::(to\.|type_as)/.test(node.op) ? null : elementwiseSteps(node, analysis)
  if (steps === null || steps.length === 0) return null
  const { op } = steps.at(-1)!
  const rounding = dtype === DType.bfloat16 ? JitAlgorithm.round_bfloat16 : JitAlgorithm.round_float16
  return { kind: op === rounding ? 'rounded' : 'exact' }
}

/** A batch norm whose numbers are constants. */
function hasStatistics(node: OperatorNode, analysis: Analysis): boolean {
  const others = usesOf(node).filter((id) => id !== inputOf(node))
  return isFlag(named(node, 'training'), false) && others.length >= 2 && others.every((id) => analysis.tensor(id) !== undefined)
}

/** Constants of up to so many numbers become float32 once, larger ones at each call. */
const MAX_CONSTANT = 1 << 16

class Rewriter {
  private readonly editor: Editor
  /** Values in float32 by what they are in 16 bits. */
  private readonly wide = new Map<ValueId, ValueId>()
  /** Results that are read in 16 bits, too. */
  private readonly narrow = new Set<ValueId>()

  constructor(
    private readonly graph: Graph,
    private readonly analysis: Analysis,
    private readonly forms: ReadonlyMap<GraphNode, Form>,
  ) {
    this.editor = new Editor(graph)
  }

  run(): Graph {
    for (const node of [...this.graph.nodes].reverse())
      if (this.forms.has(node) && this.isReadNarrow(node)) this.narrow.add(onlyResult(node)!)
    for (const node of this.graph.nodes) {
      const form = this.forms.get(node)
      if (form === undefined || node.kind !== 'operator') continue
      const made = this.rewrite(node, form)
      const result = onlyResult(node)!
      if (form.kind === 'widening') this.editor.replaceValue(result, this.wide.get(inputOf(node)!)!)
      else if (this.narrow.has(result))
        made.push(form.kind === 'view' ? node : cast(this.wide.get(result)!, this.analysis.type(result).dtype, result, node))
      this.editor.replaceNode(node, made)
    }
    return this.editor.finish()
  }

  /** Views of what is read in 16 bits are views of that. */
  private isReadNarrow(node: GraphNode): boolean {
    const result = onlyResult(node)!
    if (this.analysis.isReturned(result)) return true
    return this.analysis.readersOf(result).some((reader) => {
      const form = this.forms.get(reader)
      return form === undefined || (form.kind === 'view' && this.narrow.has(onlyResult(reader)!))
    })
  }

  private rewrite(node: OperatorNode, form: Form): GraphNode[] {
    if (form.kind === 'widening') return []
    const before: GraphNode[] = []
    const result = onlyResult(node)!
    const type = { ...this.analysis.type(result), dtype: DType.float32 }
    const made = this.editor.newValue(
      type,
      form.kind === 'view' ? this.editor.storageOf(this.inFloats(inputOf(node)!, node, before)) : undefined,
    )
    const isRounded = form.kind !== 'exact' && form.kind !== 'view'
    const sums = form.kind === 'narrowing' ? inputOf(node)! : isRounded ? this.editor.newValue(type) : made
    const results = [{ kind: 'value', id: sums }] as const
    if (form.kind === 'convolution') {
      const { layer } = form
      const bias = layer.bias === null ? null : this.inFloats(layer.bias, node, before)
      before.push({ ...layer, input: this.inFloats(layer.input, node, before), bias, results })
    } else if (form.kind !== 'narrowing') {
      const args = node.args.map((arg) => mapArg(arg, (id) => this.inFloats(id, node, before)))
      before.push({ ...node, args, results })
    }
    this.wide.set(result, made)
    if (!isRounded) return before
    const args = [value(sums), constant(this.analysis.type(result).dtype)]
    return [...before, { ...baseOf(node), kind: 'operator', op: 'ptlite::rounded', args, results: [{ kind: 'value', id: made }] }]
  }

  private inFloats(id: ValueId, reader: OperatorNode, before: GraphNode[]): ValueId {
    const known = this.wide.get(id)
    const type = this.analysis.type(id)
    if (known !== undefined || !isHalf(type.dtype)) return known ?? id
    const tensor = this.analysis.tensor(id)
    if (tensor !== undefined && tensor.numel <= MAX_CONSTANT) {
      const [floats] = callOnce('aten::to.dtype', [tensor, DType.float32, false, true, null]) as [Tensor]
      const made = this.editor.addConstant(floats, `${this.analysis.nameOf(id)} in float32`)
      this.wide.set(id, made)
      return made
    }
    const { shape } = type
    const dense = { ...type, strides: contiguousStrides(shape), offset: 0 }
    let from = id
    if (!isContiguous(shape, type.strides)) {
      from = this.editor.newValue(dense)
      before.push({
        ...baseOf(reader),
        kind: 'operator',
        op: 'aten::contiguous',
        args: [value(id), constant(0)],
        results: [{ kind: 'value', id: from }],
      })
    }
    const made = this.editor.newValue({ ...dense, dtype: DType.float32 })
    before.push(cast(from, DType.float32, made, reader))
    this.wide.set(id, made)
    return made
  }
}

function cast(from: ValueId, dtype: DType, to: ValueId, node: OperatorNode): OperatorNode {
  const args = [value(from), constant(dtype), constant(false), constant(false), NONE]
  return { ...baseOf(node), kind: 'operator', op: 'aten::to.dtype', args, results: [{ kind: 'value', id: to }] }
}
