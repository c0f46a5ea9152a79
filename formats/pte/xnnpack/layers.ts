import { damaged } from '../../../program/file-error.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { FlatTable } from '../../containers/flatbuffer/reader.js'
import type { GraphNode } from './graph.js'
import { clamp } from './clamp.js'
import { Field, NO_ID } from './schema.js'
import type { DelegateValues } from './values.js'
import { dtypeOf, identity } from './values.js'

/* Layers of images have their channels last; they are written for channels first, and results are kept that way. */

const TO_FIRST = [0, 3, 1, 2]
const TO_LAST = [0, 2, 3, 1]

/** What is added at each side of an image. */
interface Padding {
  readonly top: number
  readonly right: number
  readonly bottom: number
  readonly left: number
}

function paddingOf(table: FlatTable, field: { top: number; right: number; bottom: number; left: number }): Padding {
  const [top, right, bottom, left] = [field.top, field.right, field.bottom, field.left].map((item) => table.uint32(item)) as [
    number, number, number, number,
  ] // prettier-ignore
  return { top, right, bottom, left }
}

function isEven({ top, right, bottom, left }: Padding): boolean {
  return top === bottom && left === right
}

/** Windows that go over an image: numbers for its rows, and for its columns. */
interface Windows {
  readonly size: readonly number[]
  readonly stride: readonly number[]
  readonly dilation: readonly number[]
  readonly padding: Padding
}

/** Throws INVALID_FILE where the images [n, height, width, channels] of an output are not as large as there are windows: padding asks for no more memory than they take. */
function checkWindows(input: number, output: number, { size, stride, dilation, padding }: Windows, values: DelegateValues): void {
  const added = [padding.top + padding.bottom, padding.left + padding.right]
  const sizesOf = (id: number): readonly number[] => values.value(id).dims.slice(1, 3)
  const [from, to] = [sizesOf(input), sizesOf(output)]
  const wanted = added.map((more, i) => Math.floor((from[i]! + more - dilation[i]! * (size[i]! - 1) - 1) / stride[i]!) + 1)
  if (!wanted.every((count, i) => count === to[i]))
    throw damaged(`windows over images of ${from.join(' x ')} give ${wanted.join(' x ')}, the file says ${to.join(' x ')}`)
}

/** Adds numbers around the images on the stack. */
function pad({ top, right, bottom, left }: Padding, value: number, { emitter }: DelegateValues): void {
  emitter.constant([left, right, top, bottom])
  emitter.constant(new Float(value))
  emitter.operator('aten::constant_pad_nd', 3)
}

/** Pushes a filter, in the dtype of the floats that it is applied to: halves may come with filters of single precision. */
function pushFilter(id: number, order: readonly number[], input: number, values: DelegateValues): void {
  values.push(id, order)
  const [own, wanted] = [dtypeOf(values.value(id)), values.floatsOf(input)]
  if (own !== wanted && wanted === DType.float16) values.cast(wanted)
}

function pushBias(id: number, input: number, values: DelegateValues): void {
  if (id === NO_ID) values.emitter.constant(null)
  else {
    pushFilter(id, identity(values.value(id).dims.length), input, values)
    if (values.value(id).dims.length !== 1) {
      values.emitter.constant([-1])
      values.emitter.operator('aten::reshape', 2)
    }
  }
}

/** A filter is [outputs, height, width, inputs of a group]; of one channel for each input [1, height, width, outputs]. */
export function writeConvolution(node: GraphNode, values: DelegateValues, isDepthwise: boolean): void {
  const { table } = node
  const { emitter } = values
  const field = Field.convolution
  const padding = paddingOf(table, field)
  const number = (item: number): number => table.uint32(item)
  const isPadded = !isEven(padding)
  const windows: Windows = {
    size: values.value(number(field.filter)).dims.slice(1, 3),
    stride: [number(field.strideHeight), number(field.strideWidth)],
    dilation: [number(field.dilationHeight), number(field.dilationWidth)],
    padding,
  }
  checkWindows(number(field.input), number(field.output), windows, values)
  values.push(number(field.input), TO_FIRST)
  if (isPadded) pad(padding, 0, values)
  pushFilter(number(field.filter), isDepthwise ? [3, 0, 1, 2] : TO_FIRST, number(field.input), values)
  pushBias(number(field.bias), number(field.input), values)
  emitter.constant([...windows.stride])
  emitter.constant(isPadded ? [0, 0] : [padding.top, padding.left])
  emitter.constant([...windows.dilation])
  emitter.constant(isDepthwise ? inputChannels(table) : number(field.groups))
  emitter.operator('aten::conv2d', 7)
  clamp(node, values)
  values.store(number(field.output), TO_LAST)
}

function inputChannels(table: FlatTable): number {
  const { groups, groupInputs } = Field.convolution
  return table.uint32(groups) * table.uint32(groupInputs)
}

/** A filter is [outputs, height, width, inputs of a group]. */
export function writeTransposedConvolution(node: GraphNode, values: DelegateValues): void {
  const { table } = node
  const { emitter } = values
  const field = Field.convolution
  const padding = paddingOf(table, field)
  const number = (item: number): number => table.uint32(item)
  const groups = number(field.groups)
  values.push(number(field.input), TO_FIRST)
  if (groups === 1) pushFilter(number(field.filter), [3, 0, 1, 2], number(field.input), values)
  else pushGrouped(number(field.filter), groups, number(field.input), values)
  pushBias(number(field.bias), number(field.input), values)
  emitter.constant([number(field.strideHeight), number(field.strideWidth)])
  emitter.constant([padding.top, padding.left])
  // what is cut off less at the end
  emitter.constant([
    number(field.adjustmentHeight) + padding.top - padding.bottom,
    number(field.adjustmentWidth) + padding.left - padding.right,
  ])
  emitter.constant(groups)
  emitter.constant([number(field.dilationHeight), number(field.dilationWidth)])
  emitter.operator('aten::conv_transpose2d.input', 8)
  clamp(node, values)
  values.store(number(field.output), TO_LAST)
}

/** The filter as [inputs, outputs of a group, height, width]. */
function pushGrouped(id: number, groups: number, input: number, values: DelegateValues): void {
  const { emitter } = values
  const [outputs, height, width, inputs] = values.value(id).dims as [number, number, number, number]
  if (outputs % groups !== 0) throw damaged(`${outputs} channels in ${groups} groups`)
  pushFilter(id, [0, 1, 2, 3], input, values)
  emitter.constant([groups, outputs / groups, height, width, inputs])
  emitter.operator('aten::reshape', 2)
  values.permute([0, 4, 1, 2, 3])
  emitter.constant([groups * inputs, outputs / groups, height, width])
  emitter.operator('aten::reshape', 2)
}

/** Pools leave out what is added around images. */
export function writePool(kind: 'avg' | 'max', node: GraphNode, values: DelegateValues): void {
  const { table } = node
  const { emitter } = values
  const field = Field.pool
  const padding = paddingOf(table, field)
  const number = (item: number): number => table.uint32(item)
  const size = [number(field.height), number(field.width)]
  const stride = [number(field.strideHeight), number(field.strideWidth)]
  const dilation = [table.uint32(field.dilationHeight, 1) || 1, table.uint32(field.dilationWidth, 1) || 1]
  checkWindows(number(field.input), number(field.output), { size, stride, dilation, padding }, values)
  const isPadded = !isEven(padding) || padding.top > size[0]! / 2 || padding.left > size[1]! / 2
  const given = isPadded ? [0, 0] : [padding.top, padding.left]
  const average = (): void => {
    for (const value of [size, stride, given, false, false]) emitter.constant(value)
    emitter.operator('aten::avg_pool2d', 6)
  }
  values.push(number(field.input), TO_FIRST)
  if (kind === 'max') {
    if (isPadded) pad(padding, -Infinity, values)
    for (const value of [size, stride, given, dilation, false]) emitter.constant(value)
    emitter.operator('aten::max_pool2d', 6)
  } else if (!isPadded) average()
  else {
    // the sum of what is there over how much is there
    pad(padding, 0, values)
    average()
    values.push(number(field.input), TO_FIRST)
    emitter.operator('aten::ones_like', 1)
    pad(padding, 0, values)
    average()
    emitter.operator('aten::div.Tensor', 2)
  }
  clamp(node, values)
  values.store(number(field.output), TO_LAST)
}

/** A filter is [outputs, inputs], or the other way round where a flag says so. */
export function writeLinear(node: GraphNode, values: DelegateValues): void {
  const { table } = node
  const field = Field.linear
  const [input, filter, bias, output] = [field.input, field.filter, field.bias, field.output].map((item) => table.uint32(item)) as [
    number, number, number, number,
  ] // prettier-ignore
  const isTransposed = (table.uint32(field.flags) & 1) !== 0
  values.push(input)
  pushFilter(filter, isTransposed ? [1, 0] : [0, 1], input, values)
  // the bias of a product of bfloat16 is of single precision
  const isApart = bias !== NO_ID && values.floatsOf(input) === DType.bfloat16 && dtypeOf(values.value(bias)) !== DType.bfloat16
  if (isApart) {
    values.emitter.constant(null)
    values.emitter.operator('aten::linear', 3)
    pushBias(bias, input, values)
    values.emitter.operator('aten::add.Tensor', 2)
  } else {
    pushBias(bias, input, values)
    values.emitter.operator('aten::linear', 3)
  }
  clamp(node, values)
  if (isApart) values.cast(dtypeOf(values.value(output)))
  else values.castTo(input, output)
  values.store(output, identity(values.orderOf(input).length))
}
