import { contiguousStrides, sameShape } from '../../../runtime/tensor/shape.js'
import { MemoryFormat } from '../../../runtime/tensor/options.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { isPerChannel, type PerTensorQuant } from '../../../runtime/tensor/tensor.js'
import { isContiguousAs } from '../../../runtime/tensor/view-strides.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type Graph, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputOf, isDecomposed, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { clampOf, madeBy } from '../expression.js'
import { Builder } from './builder.js'
import { AVERAGING, isElementwise, isNumber, SHOWING } from './carriers.js'
import { dynamicInput } from './dynamic.js'
import { integerEmbedding } from './embedding.js'
import { type IntegerLayer, integerLayer } from './layers.js'
import { dequantizationOf, type Half, type Parameters, quantizationOf } from './pairs.js'
import * as features from '../../../runtime/features.js'

/** The graph with operators on integers, where anything is quantized to known parameters. */
export function onIntegers(graph: Graph): Graph {
  if (!features.quantized) return graph
  return new Rewriter(graph).run()
}

/** Bounds of an activation; infinite where there is none. */
interface Bounds {
  readonly min: number
  readonly max: number
}

/** The greatest of the integers. */
const MOST = 255

const NO_BOUNDS: Bounds = { min: -Infinity, max: Infinity }

class Rewriter {
  private readonly analysis: Analysis
  private readonly editor: Editor
  private readonly builder: Builder
  /** Quantized tensors by the floats or plain integers that they stand for; null for those that have none. */
  private readonly integers = new Map<ValueId, ValueId | null>()
  /** Floats in the layout of such tensors. */
  private readonly floats = new Map<ValueId, ValueId | null>()

  constructor(private readonly graph: Graph) {
    this.analysis = analysisOf(graph)
    this.editor = new Editor(graph)
    this.builder = new Builder(this.analysis, this.editor)
  }

  run(): Graph {
    let changed = false
    for (const node of operatorsOf(this.graph)) {
      this.builder.begin(node)
      if (!this.rewrite(node)) continue
      this.editor.replaceNode(node, this.builder.take())
      changed = true
    }
    return changed ? this.editor.finish() : this.graph
  }

  /** Makes nodes that take the place of `node`; false where it stays. */
  private rewrite(node: OperatorNode): boolean {
    const { analysis } = this
    if (isDecomposed(node)) {
      const quantization = quantizationOf(node, analysis)
      if (quantization !== null) return this.quantize(quantization)
      const dequantization = dequantizationOf(node, analysis)
      return dequantization !== null && this.dequantize(dequantization)
    }
    return this.layer(node) || this.embedding(node)
  }

  private quantize({ input, result, parameters, isSigned }: Half): boolean {
    const quantized = this.narrowed(this.quantized(input, parameters) ?? this.plainly(input, parameters), parameters)
    if (quantized === null) return false
    const plain = this.builder.add('aten::int_repr', [value(quantized)])
    const integers = plain === null || !isSigned ? plain : this.seenAs(this.flipped(plain), DType.int8)
    if (integers === null || this.laidOut(result, integers) === null) return false
    this.integers.set(result, quantized)
    return true
  }

  private dequantize({ input, result, parameters, isSigned }: Half): boolean {
    const integers = this.integersOf(input) ?? this.given(input, parameters, isSigned)
    if (integers === null || !this.has(integers, parameters)) return false
    if (!this.inPlaceOf(result, 'aten::dequantize.self', [value(integers)])) return false
    this.integers.set(result, integers)
    return true
  }

  /** Plain integers that come from elsewhere, with parameters. */
  private given(input: ValueId, { scale, zeroPoint }: Parameters, isSigned: boolean): ValueId | null {
    const integers = isSigned ? this.flipped(this.seenAs(input, DType.uint8)) : input
    if (integers === null) return null
    const number = constant(new Float(scale))
    return this.builder.add('aten::_make_per_tensor_quantized_tensor', [value(integers), number, constant(zeroPoint)])
  }

  /** Bytes as integers of another dtype. */
  private seenAs(id: ValueId | null, dtype: DType): ValueId | null {
    return id === null ? null : this.builder.add('aten::view.dtype', [value(id), constant(dtype)])
  }

  /** Bytes whose highest bits are the other way round: what moves integers between the ranges of int8 and uint8. */
  private flipped(id: ValueId | null): ValueId | null {
    return id === null ? null : this.builder.add('aten::bitwise_xor.Scalar', [value(id), constant(128)])
  }

  /** A layer whose result is needed as floats. */
  private layer(node: OperatorNode): boolean {
    const layer = integerLayer(node, this.analysis)
    const result = onlyResult(node)
    if (layer === null || result === undefined) return false
    if (this.dynamicLayer(layer, result)) return true
    const sums = this.sumsOf(layer)
    const floats = sums === null ? null : this.laidOut(result, sums)
    if (floats === null) return false
    this.floats.set(result, floats)
    return true
  }

  /** A linear layer whose input is quantized by its own range. */
  private dynamicLayer({ input, packed, floating }: IntegerLayer, result: ValueId): boolean {
    const source = floating === 'ptlite::quantized_linear' ? dynamicInput(input, this.analysis) : null
    if (source === null) return false
    let floats: ValueId | null = source.floats
    for (const { op, args } of source.arranging) floats = floats === null ? null : this.builder.add(op, [value(floats), ...args.slice(1)])
    if (floats === null) return false
    return this.inPlaceOf(result, 'quantized::linear_dynamic', [value(floats), this.builder.object(packed), constant(false)])
  }

  private embedding(node: OperatorNode): boolean {
    const rows = integerEmbedding(node, this.analysis, this.builder)
    return rows !== null && this.laidOut(onlyResult(node)!, rows) !== null
  }

  /** The float32 result of a layer on integers, as its kernel lays it out. */
  private sumsOf({ input, packed, floating }: IntegerLayer): ValueId | null {
    const integers = this.integersOf(input)
    return integers === null ? null : this.builder.add(floating, [value(integers), this.builder.object(packed)])
  }

  /** Defines a value of the graph by a call, in the layout that the graph says. False where that is another one. */
  private inPlaceOf(id: ValueId, op: string, args: readonly Arg[]): boolean {
    const made = this.builder.add(op, args)
    return made !== null && this.laidOut(id, made) !== null
  }

  /** Defines a value of the graph with the elements of `from`, and gives the one that lies as that does. Null where it cannot be laid out so. */
  private laidOut(id: ValueId, from: ValueId): ValueId | null {
    const [wanted, found] = [this.analysis.type(id), this.editor.typeOf(from)]
    if (wanted.dtype !== found.dtype || !sameShape(wanted.shape, found.shape)) return null
    const isSame = wanted.shape.every((size, d) => size === 1 || wanted.strides[d] === found.strides[d])
    if (isSame && this.builder.rename(from, id)) return id
    const format = sameShape(wanted.strides, contiguousStrides(wanted.shape)) ? MemoryFormat.contiguous : formatOf(wanted)
    if (format === null) return null
    this.builder.define(id, isSame ? 'aten::clone' : 'aten::contiguous', [value(from), constant(format)])
    return from
  }

  private quantOf(id: ValueId): PerTensorQuant | null {
    const { quant } = this.editor.typeOf(id)
    return quant === null || isPerChannel(quant) ? null : quant
  }

  private has(id: ValueId, { scale, zeroPoint }: Parameters): boolean {
    const quant = this.quantOf(id)
    return quant?.scale === scale && quant.zeroPoint === zeroPoint
  }

  /** The quantized tensor with exactly the elements of a value, where one is known or an operator on such tensors makes it. */
  private integersOf(id: ValueId): ValueId | null {
    const known = this.integers.get(id)
    if (known !== undefined) return known
    const found = this.carried(id)
    this.integers.set(id, found)
    return found
  }

  private carried(id: ValueId): ValueId | null {
    const node = madeBy(value(id), this.analysis)
    if (node?.op === 'aten::cat') return this.joined(node)
    if (node === undefined || !SHOWING.has(node.op)) return null
    if (node.op === 'aten::relu' && this.analysis.type(id).dtype !== DType.float32) return null
    const input = inputOf(node)
    const integers = input === undefined ? null : this.integersOf(input)
    if (integers === null) return null
    const args = [value(integers), ...node.args.slice(1)]
    const [first] = node.results
    if (first?.kind !== 'list') return this.builder.add(node.op, args)
    const made = this.builder.addList(node.op, args)
    first.items.forEach((item, i) => item.kind === 'value' && this.integers.set(item.id, made?.[i] ?? null))
    return this.integers.get(id) ?? null
  }

  /** Tensors of one scale and zero point, joined. */
  private joined({ args: [list, dim] }: OperatorNode): ValueId | null {
    const all = this.allIntegers(list)
    if (all === null || dim === undefined) return null
    const [first] = all.map((id) => this.quantOf(id))
    const isOne = all.every((id) => this.quantOf(id)?.scale === first?.scale && this.quantOf(id)?.zeroPoint === first?.zeroPoint)
    return isOne ? this.joinedAs(all, dim, first!) : null
  }

  private allIntegers(list: Arg | undefined): ValueId[] | null {
    if (list?.kind !== 'list') return null
    const all = list.items.map((item) => (item.kind === 'value' ? this.integersOf(item.id) : null))
    return all.length > 0 && all.every((id) => id !== null) ? all : null
  }

  private joinedAs(all: readonly ValueId[], dim: Arg, { scale, zeroPoint }: PerTensorQuant): ValueId | null {
    const list: Arg = { kind: 'list', items: all.map(value) }
    return this.builder.add('quantized::cat', [list, dim, constant(new Float(scale)), constant(zeroPoint)])
  }

  /** A value quantized to the whole range of integers by operators on integers; null where there are none. */
  private quantized(id: ValueId, to: Parameters): ValueId | null {
    const integers = this.integersOf(id)
    if (integers !== null && this.has(integers, to)) return integers
    return this.computed(id, to) ?? this.throughFloats(id, to)
  }

  private computed(id: ValueId, to: Parameters): ValueId | null {
    const node = madeBy(value(id), this.analysis)
    if (node === undefined) return null
    const input = inputOf(node)
    if (SHOWING.has(node.op) && node.op !== 'aten::relu' && node.results[0]?.kind === 'value') {
      const integers = input === undefined ? null : this.computed(input, to)
      return integers === null ? null : this.builder.add(node.op, [value(integers), ...node.args.slice(1)])
    }
    if (AVERAGING.has(node.op)) {
      const integers = input === undefined ? null : this.integersOf(input)
      return integers === null || !this.has(integers, to) ? null : this.builder.add(node.op, [value(integers), ...node.args.slice(1)])
    }
    if (node.op === 'aten::cat') {
      const all = this.allIntegers(node.args[0])
      return all === null ? null : this.joinedAs(all, node.args[1]!, to)
    }
    const { term, bounds } = this.activation(node)
    const before = term === undefined ? node : madeBy(term, this.analysis)
    return before === undefined ? null : this.bounded(before, bounds, to)
  }

  /** What an activation works on, and its bounds; no term for other operators. */
  private activation(node: OperatorNode): { readonly term?: Arg; readonly bounds: Bounds } {
    if (node.op === 'aten::relu') return { term: node.args[0]!, bounds: { min: 0, max: Infinity } }
    if (node.op === 'aten::clamp') {
      const [min, max] = ['min', 'max'].map((name) => numberArg(named(node, name)))
      return { term: node.args[0]!, bounds: { min: min ?? -Infinity, max: max ?? Infinity } }
    }
    const clamp = clampOf(value(onlyResult(node)!), this.analysis)
    return clamp === null ? { bounds: NO_BOUNDS } : { term: clamp.term, bounds: clamp }
  }

  /** A layer, sum or product between bounds. */
  private bounded(node: OperatorNode, bounds: Bounds, to: Parameters): ValueId | null {
    const rectifies = bounds.min === 0
    const parameters = [constant(new Float(to.scale)), constant(to.zeroPoint)]
    const made = this.requantizedLayer(node, rectifies, parameters) ?? this.combined(node, rectifies, parameters)
    return made === null ? null : this.clamped(made, bounds, to)
  }

  private requantizedLayer(node: OperatorNode, rectifies: boolean, parameters: readonly Arg[]): ValueId | null {
    const layer = integerLayer(node, this.analysis)
    const integers = layer === null ? null : this.integersOf(layer.input)
    if (layer === null || integers === null) return null
    // several readers would compute it several times
    if (this.analysis.onlyReader(onlyResult(node)!) === undefined) return null
    const op = rectifies ? (layer.rectifying ?? layer.requantizing) : layer.requantizing
    return this.builder.add(op, [value(integers), this.builder.object(layer.packed), ...parameters])
  }

  private combined(node: OperatorNode, rectifies: boolean, parameters: readonly Arg[]): ValueId | null {
    const name =
      node.op === 'aten::mul.Tensor' ? 'mul' : node.op === 'aten::add.Tensor' && numberArg(named(node, 'alpha')) === 1 ? 'add' : null
    if (name === null) return null
    const operands = node.args.slice(0, 2).map(valueArg)
    const all = operands.map((id) => (id === undefined ? null : this.integersOf(id)))
    if (!all.every((id) => id !== null)) return null
    return this.builder.add(`quantized::${name}${rectifies ? '_relu' : ''}`, [...all.map((id) => value(id!)), ...parameters])
  }

  /** Integers between the bounds of an activation, where those of the dtype are wider. */
  private clamped(id: ValueId, { min, max }: Bounds, to: Parameters): ValueId | null {
    const [least, most] = [min, max].map((bound) => Math.round(bound / to.scale) + to.zeroPoint)
    if (least! <= 0 && most! >= MOST) return id
    return this.builder.add('aten::clamp', [value(id), bound(min), bound(max)])
  }

  /** Integers within the range that is used, where that is not all of the dtype's. */
  private narrowed(id: ValueId | null, { scale, zeroPoint, min, max }: Parameters): ValueId | null {
    if (id === null || (min === 0 && max === MOST)) return id
    return this.builder.add('aten::clamp', [value(id), bound((min - zeroPoint) * scale), bound((max - zeroPoint) * scale)])
  }

  /** Element-wise operators on floats in the layout of the integers that they come from, and a quantization. */
  private throughFloats(id: ValueId, to: Parameters): ValueId | null {
    const floats = this.floatsOf(id)
    return floats === null ? null : this.plainly(floats, to)
  }

  private floatsOf(id: ValueId): ValueId | null {
    const known = this.floats.get(id)
    if (known !== undefined) return known
    const found = this.computedFloats(id)
    this.floats.set(id, found)
    return found
  }

  private computedFloats(id: ValueId): ValueId | null {
    const integers = this.integersOf(id)
    if (integers !== null) return this.builder.add('aten::dequantize.self', [value(integers)])
    const node = madeBy(value(id), this.analysis)
    if (node === undefined || !isElementwise(node.op)) return null
    let depends = false
    const args = node.args.map((arg): Arg | null => {
      const operand = valueArg(arg)
      if (operand === undefined) return arg
      if (isNumber(operand, this.analysis)) return arg
      const floats = this.floatsOf(operand)
      depends = true
      return floats === null ? null : value(floats)
    })
    return depends && args.every((arg) => arg !== null) ? this.builder.add(node.op, args) : null
  }

  private plainly(id: ValueId, { scale, zeroPoint }: Parameters): ValueId | null {
    return this.builder.add('aten::quantize_per_tensor', [
      value(id),
      constant(new Float(scale)),
      constant(zeroPoint),
      constant(DType.quint8),
    ])
  }
}

const bound = (x: number): Arg => constant(Number.isFinite(x) ? new Float(x) : null)

function formatOf({ shape, strides }: { readonly shape: readonly number[]; readonly strides: readonly number[] }): number | null {
  const format = shape.length === 5 ? MemoryFormat.channelsLast3d : MemoryFormat.channelsLast
  return shape.length >= 4 && isContiguousAs(shape, strides, format) ? format : null
}
