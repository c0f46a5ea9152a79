import { damaged, guarded, unsupported } from '../../../program/file-error.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { Value } from '../../../runtime/tensor/value.js'
import { clamp } from './clamp.js'
import type { GraphNode } from './graph.js'
import { writeConvolution, writeLinear, writePool, writeTransposedConvolution } from './layers.js'
import { Field, type NodeKind } from './schema.js'
import type { DelegateValues } from './values.js'
import { identity } from './values.js'

/** Writes a node of a graph. */
export type NodeWriter = (node: GraphNode, values: DelegateValues) => void

/** Calls an operator with what is on the stack and constants behind it. */
function call(values: DelegateValues, operator: string, given: number, ...constants: readonly Value[]): void {
  for (const constant of constants) values.emitter.constant(constant)
  values.emitter.operator(operator, given + constants.length)
}

/** One operator on each element. */
function elementwise(operator: string): NodeWriter {
  return (node, values) => writeElementwise(operator, Field.unary, [], node, values)
}

/** One that has a number, too, which stands in front of its values. */
function withNumber(operator: string): NodeWriter {
  return (node, values) => writeElementwise(operator, Field.elu, [new Float(node.table.float32(Field.elu.alpha))], node, values)
}

function writeElementwise(
  operator: string,
  { input, output }: { input: number; output: number },
  constants: readonly Value[],
  node: GraphNode,
  values: DelegateValues,
): void {
  const [from, to] = [node.table.uint32(input), node.table.uint32(output)]
  const order = values.orderOf(from)
  values.push(from, inOrder(order))
  if (operator !== '') call(values, operator, 1, ...constants)
  else values.borrow(from, to)
  clamp(node, values)
  values.store(to, order)
}

/** The order of dimensions in which a value that is kept as `order` says is pushed as it is. */
export function inOrder(order: readonly number[]): number[] {
  const inverse = order.map(() => 0)
  order.forEach((from, to) => (inverse[from] = to))
  return inverse
}

/** One operator on the elements of two values, of which one may have fewer dimensions. */
function binary(operator: string): NodeWriter {
  return (node, values) => {
    const { first, second, output } = Field.binary
    const [a, b, to] = [first, second, output].map((field) => node.table.uint32(field)) as [number, number, number]
    const [p, q] = [values.orderOf(a), values.orderOf(b)]
    // what is a constant follows the other one
    const order = values.isConstant(a) || p.length < q.length ? q : p
    pushAs(a, order, values)
    pushAs(b, order, values)
    call(values, operator, 2)
    clamp(node, values)
    values.store(to, order)
  }
}

/** Pushes a value with its dimensions as they are kept where their order is this, with ones in front where it has fewer. */
function pushAs(id: number, order: readonly number[], values: DelegateValues): void {
  const rank = values.orderOf(id).length
  const inverse = inOrder(order)
  if (rank === order.length) return values.push(id, inverse)
  values.push(id)
  if (inverse.every((dim, i) => dim === i)) return
  for (let i = rank; i < order.length; i++) call(values, 'aten::unsqueeze', 1, 0)
  values.permute(inverse)
}

/** Rearranges a value: its integers where both are quantized alike. `write` gets the order that dimensions are kept in. */
function arranging(
  write: (order: readonly number[], node: GraphNode, values: DelegateValues) => readonly number[],
  fields: { input: number; output: number },
): NodeWriter {
  return (node, values) => {
    const [from, to] = [node.table.uint32(fields.input), node.table.uint32(fields.output)]
    const order = values.orderOf(from)
    const isAlike = !values.isConstant(from) && values.areAlike(from, to)
    if (isAlike) values.pushRaw(from)
    else values.push(from, inOrder(order))
    values.borrow(from, to)
    const result = write(order, node, values)
    if (isAlike) values.keep(to, result)
    else values.store(to, result)
  }
}

const transpose: NodeWriter = ({ table }, values) => {
  const { order: field, input, output } = Field.transpose
  const [from, to] = [table.uint32(input), table.uint32(output)]
  const order = table.uint32s(field)
  if (order.length !== values.orderOf(from).length || new Set(order).size !== order.length || !order.every((dim) => dim < order.length))
    throw damaged(`a transposition of ${values.orderOf(from).length} dimensions to [${order.join(', ')}]`)
  values.borrow(from, to)
  if (values.isConstant(from)) {
    values.push(from, order)
    return values.store(to, identity(order.length))
  }
  if (values.areAlike(from, to)) return values.rename(from, to, order)
  const kept = values.orderOf(from)
  values.push(from, inOrder(kept))
  values.store(
    to,
    order.map((dim) => kept[dim]!),
  )
}

const reshape: NodeWriter = ({ table }, values) => {
  const { sizes, input, output } = Field.reshape
  const [from, to] = [table.uint32(input), table.uint32(output)]
  // 0 is the one dimension that follows from the others
  const shape = table.uint32s(sizes).map((size) => (size === 0 ? -1 : size))
  values.borrow(from, to)
  const isAlike = !values.isConstant(from) && values.areAlike(from, to)
  const order = values.orderOf(from)
  if (isAlike) {
    values.pushRaw(from)
    values.permute(order)
  } else values.push(from)
  call(values, 'aten::reshape', 1, shape)
  if (isAlike) values.keep(to, identity(shape.length))
  else values.store(to, identity(shape.length))
}

const slice = arranging((order, { table }, values) => {
  const { offsets, sizes } = Field.slice
  const [from, counts] = [table.uint32s(offsets), table.uint32s(sizes)]
  const { dims } = values.value(table.uint32(Field.slice.input))
  order.forEach((dim, i) => {
    const [begin, count] = [from[i] ?? 0, counts[i] ?? 0]
    if (begin === 0 && (count === 0 || count === dims[i])) return
    call(values, 'aten::slice.Tensor', 1, dim, begin, count === 0 ? null : begin + count)
  })
  return order
}, Field.slice)

const pad: NodeWriter = ({ table }, values) => {
  const { before, after, value, input, output } = Field.pad
  const [from, to] = [table.uint32(input), table.uint32(output)]
  const order = values.orderOf(from)
  const [first, last] = [table.uint32s(before), table.uint32s(after)]
  const [given, made] = [values.value(from).dims, values.value(to).dims]
  if (made.length !== given.length || !made.every((size, i) => size === given[i]! + (first[i] ?? 0) + (last[i] ?? 0)))
    throw damaged(`[${given.join(', ')}] with [${first.join(', ')}] before and [${last.join(', ')}] behind are no [${made.join(', ')}]`)
  values.push(from, inOrder(order))
  // from the last dimension to the first, as it is kept
  const kept = inOrder(order)
  const widths = [...kept].reverse().flatMap((dim) => [first[dim] ?? 0, last[dim] ?? 0])
  call(values, 'aten::constant_pad_nd', 1, widths, new Float(table.float32(value)))
  values.store(to, order)
}

function concatenate(count: number): NodeWriter {
  const field = Field.join
  const inputs = [field.first, field.second, field.third, field.fourth, field.fifth].slice(0, count)
  return ({ table }, values) => {
    const ids = inputs.map((input) => table.uint32(input))
    const to = table.uint32(field.output)
    const first = ids.find((id) => !values.isConstant(id)) ?? ids[0]!
    const order = values.orderOf(first)
    const axis = table.int32(field.axis)
    const dim = order[axis < 0 ? axis + order.length : axis]
    if (dim === undefined) throw damaged(`a concatenation along dimension ${axis} of ${order.length}`)
    const isRaw = ids.every((id) => !values.isConstant(id) && values.areAlike(id, to) && values.orderOf(id).join() === order.join())
    for (const id of ids) {
      if (isRaw) values.pushRaw(id)
      else values.push(id, inOrder(order))
    }
    const { builder } = values.emitter
    builder.emit('LIST_CONSTRUCT', builder.type('Tensor'), ids.length)
    call(values, 'aten::cat', 1, dim)
    if (isRaw) values.keep(to, order)
    else values.store(to, order)
  }
}

const softmax: NodeWriter = (node, values) => {
  const { input, output } = Field.unary
  const [from, to] = [node.table.uint32(input), node.table.uint32(output)]
  const order = values.orderOf(from)
  values.push(from, inOrder(order))
  call(values, 'aten::softmax.int', 1, order.at(-1) ?? 0)
  values.store(to, order)
}

const product: NodeWriter = (node, values) => {
  const { first, second, output, flags } = Field.binary
  const [a, b, to] = [first, second, output].map((field) => node.table.uint32(field)) as [number, number, number]
  values.push(a)
  const order = identity(values.orderOf(b).length)
  const isTransposed = (node.table.uint32(flags) & 1) !== 0
  if (isTransposed) order.push(...order.splice(-2).reverse())
  values.push(b, order)
  call(values, 'aten::matmul', 2)
  clamp(node, values)
  values.store(to, identity(Math.max(order.length, values.orderOf(a).length)))
}

/** A slope for each index of the last dimension. */
const prelu: NodeWriter = (node, values) => {
  const { first, second, output } = Field.binary
  const [from, slope, to] = [first, second, output].map((field) => node.table.uint32(field)) as [number, number, number]
  const rank = values.orderOf(from).length
  if (rank < 2) throw unsupported('a PReLU of fewer than two dimensions')
  const order = [0, rank - 1, ...identity(rank - 1).slice(1)]
  values.push(from, order)
  values.push(slope)
  call(values, 'aten::reshape', 1, [-1])
  call(values, 'aten::prelu', 2)
  clamp(node, values)
  values.store(to, inOrder(order))
}

/** The mean of images with their channels last. */
const globalAverage: NodeWriter = (node, values) => {
  const { input, output } = Field.unary
  const [from, to] = [node.table.uint32(input), node.table.uint32(output)]
  const order = values.orderOf(from)
  if (order.length !== 4) throw damaged(`a mean of images of ${order.length} dimensions`)
  const keeps = values.value(to).dims.length === order.length
  values.push(from, [0, 3, 1, 2])
  call(values, 'aten::mean.dim', 1, [2, 3], keeps)
  clamp(node, values)
  values.store(to, keeps ? [0, 2, 3, 1] : [0, 1])
}

/** Of images with their channels last. */
const resize: NodeWriter = ({ table }, values) => {
  const { height, width, input, output, flags } = Field.resize
  const bits = table.uint32(flags)
  if ((bits & 4) !== 0) throw unsupported("an image resized as TensorFlow's older versions do")
  values.push(table.uint32(input), [0, 3, 1, 2])
  call(values, 'aten::upsample_bilinear2d', 1, [table.uint32(height), table.uint32(width)], (bits & 8) !== 0)
  values.store(table.uint32(output), [0, 2, 3, 1])
}

/** Between floats and integers, and between dtypes of floats. */
const convert: NodeWriter = ({ table }, values) => {
  const { input, output } = Field.unary
  const [from, to] = [table.uint32(input), table.uint32(output)]
  const order = values.orderOf(from)
  values.push(from, inOrder(order))
  values.castTo(from, to)
  values.store(to, order)
}

const copy = arranging((order) => order, Field.unary)

const attention: NodeWriter = ({ table }, values) => {
  const field = Field.attention
  const [query, key, value, scale, mask, to] = [field.query, field.key, field.value, field.scale, field.mask, field.output].map((item) => table.uint32(item)) as [
    number, number, number, number, number, number,
  ] // prettier-ignore
  const rank = values.orderOf(query).length
  const swapped = identity(rank)
  swapped.push(...swapped.splice(-2).reverse())
  values.push(query)
  values.push(scale)
  call(values, 'aten::mul.Tensor', 2)
  values.push(key, swapped)
  call(values, 'aten::matmul', 2)
  values.push(mask)
  call(values, 'aten::add.Tensor', 2)
  call(values, 'aten::softmax.int', 1, -1)
  values.push(value)
  call(values, 'aten::matmul', 2)
  values.store(to, identity(rank))
}

const WRITERS: Readonly<Partial<Record<NodeKind, NodeWriter>>> = {
  Abs: elementwise('aten::abs'),
  Add: binary('aten::add.Tensor'),
  AvgPooling2d: (node, values) => writePool('avg', node, values),
  BatchMatrixMultiply: product,
  Ceiling: elementwise('aten::ceil'),
  Clamp: elementwise(''),
  Concatenate2: concatenate(2),
  Concatenate3: concatenate(3),
  Concatenate4: concatenate(4),
  Concatenate5: concatenate(5),
  Conv2d: (node, values) => writeConvolution(node, values, false),
  ConvTranspose2d: writeTransposedConvolution,
  Convert: convert,
  Copy: copy,
  Cos: elementwise('aten::cos'),
  DepthwiseConv2d: (node, values) => writeConvolution(node, values, true),
  Div: binary('aten::div.Tensor'),
  ELU: withNumber('aten::elu'),
  Exp: elementwise('aten::exp'),
  Floor: elementwise('aten::floor'),
  FullyConnected: writeLinear,
  Gelu: elementwise('aten::gelu'),
  GlobalAvgPooling2d: globalAverage,
  Hardswish: elementwise('aten::hardswish'),
  LeakyReLU: withNumber('aten::leaky_relu'),
  Log: elementwise('aten::log'),
  Maximum: binary('aten::maximum'),
  MaxPooling2d: (node, values) => writePool('max', node, values),
  Minimum: binary('aten::minimum'),
  Multiply: binary('aten::mul.Tensor'),
  Negate: elementwise('aten::neg'),
  PReLU: prelu,
  ReciprocalSquareRoot: elementwise('aten::rsqrt'),
  ScaledDotProductAttention: attention,
  Sigmoid: elementwise('aten::sigmoid'),
  Sin: elementwise('aten::sin'),
  Softmax: softmax,
  Square: elementwise('aten::square'),
  SquareRoot: elementwise('aten::sqrt'),
  StaticConstantPad: pad,
  StaticReshape: reshape,
  StaticResizeBilinear2D: resize,
  StaticSlice: slice,
  StaticTranspose: transpose,
  Subtract: binary('aten::sub.Tensor'),
  Tanh: elementwise('aten::tanh'),
}

export function writeNode(node: GraphNode, values: DelegateValues): void {
  guarded(`node ${node.kind}`, () => {
    const write = WRITERS[node.kind]
    if (write === undefined) throw unsupported('a kind of node that this runtime has not got')
    write(node, values)
  })
}
