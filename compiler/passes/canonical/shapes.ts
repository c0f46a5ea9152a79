import { contiguousStrides, isContiguous, sameShape, wrapDim } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { constant, type OperatorNode, type Result } from '../../graph/graph.js'
import { type Analysis, inputArg, inputOf, integersArg, isDenseFloat, numberArg, onlyResult } from '../analysis.js'
import { type Canonical, isReal, typesOf } from './form.js'

/* Operators that show elements under other dimensions, or copy them. Whether memory is shared is the same before and after. */

/** The same elements under other sizes, by rules that `reshape` has as well. */
export function reshaped(node: OperatorNode, analysis: Analysis): Canonical | null {
  const types = typesOf(node, analysis)
  if (types === null) return null
  const sizes = [...types[1].shape]
  const isCanonical = node.op === 'aten::reshape' && sameShape(integersArg(named(node, 'shape')) ?? [-1], sizes)
  return isCanonical ? null : { op: 'aten::reshape', args: [inputArg(node), constant(sizes)] }
}

/** Dimensions of size 1 added or left out, of tensors that are dense: others have strides that `reshape` would choose otherwise. */
export function reshapedDense(node: OperatorNode, analysis: Analysis): Canonical | null {
  const dense = typesOf(node, analysis)?.every(({ shape, strides }) => isContiguous(shape, strides))
  return dense === true ? reshaped(node, analysis) : null
}

/** Which dimension of an argument of this rank comes where. */
type Order = (args: OperatorNode['args'], rank: number) => readonly number[] | null

export const permuted =
  (orderOf: Order) =>
  (node: OperatorNode, analysis: Analysis): Canonical | null => {
    const types = typesOf(node, analysis)
    if (types === null || !isReal(types[0].dtype)) return null
    const order = orderOf(node.args, types[0].shape.length)
    return order === null ? null : { op: 'aten::permute', args: [inputArg(node), constant([...order])] }
  }

export const reversed: Order = (_, rank) => Array.from({ length: rank }, (_, d) => rank - 1 - d)

export const lastExchanged: Order = (_, rank) => (rank < 2 ? null : exchangeOf(rank - 2, rank - 1, rank))

export const twoExchanged: Order = (args, rank) => {
  const [a, b] = args.slice(1).map(numberArg)
  return a === undefined || b === undefined || rank === 0 ? null : exchangeOf(wrapDim(a, rank), wrapDim(b, rank), rank)
}

/** The order that exchanges two dimensions. */
export function exchangeOf(a: number, b: number, rank: number): number[] {
  return Array.from({ length: rank }, (_, d) => (d === a ? b : d === b ? a : d))
}

/** Some dimensions, or one, are moved to other places; the rest keep their order. */
export const moved: Order = (args, rank) => {
  const dims = (i: number): number[] | undefined => {
    const one = numberArg(args[i])
    return (one === undefined ? integersArg(args[i]) : [one])?.map((d) => wrapDim(d, rank))
  }
  const [from, to] = [dims(1), dims(2)]
  if (from === undefined || to === undefined || rank === 0) return null
  const rest = Array.from({ length: rank }, (_, d) => d).filter((d) => !from.includes(d))
  return Array.from({ length: rank }, (_, d) => (to.includes(d) ? from[to.indexOf(d)]! : rest.shift()!))
}

/** The sizes that a tensor is repeated to. */
export function expanded(node: OperatorNode, analysis: Analysis): Canonical | null {
  const result = onlyResult(node)
  if (result === undefined) return null
  return { op: 'aten::expand', args: [inputArg(node), constant([...analysis.type(result).shape]), constant(false)] }
}

/** (input, dimension, start, length). */
export function narrowed(node: OperatorNode, analysis: Analysis): Canonical | null {
  const [types, dim, start, length] = [typesOf(node, analysis), ...[1, 2, 3].map((i) => numberArg(node.args[i]))] as const
  if (types === null || dim === undefined || start === undefined || length === undefined) return null
  const first = start < 0 ? start + types[0].shape[wrapDim(dim, types[0].shape.length)]! : start
  const args = [inputArg(node), constant(dim), constant(first), constant(first + length), constant(1)]
  return { op: 'aten::slice.Tensor', args }
}

/** (input, how to cut, dimension): pieces of these sizes. */
export function pieces(node: OperatorNode, analysis: Analysis): Canonical | null {
  const [list] = node.results
  const [x, dim] = [inputOf(node), numberArg(named(node, 'dim'))]
  if (x === undefined || dim === undefined || list?.kind !== 'list') return null
  const axis = wrapDim(dim, analysis.type(x).shape.length)
  const sizeOf = (item: Result): number | undefined => (item.kind === 'value' ? analysis.type(item.id).shape[axis] : undefined)
  const sizes = list.items.map(sizeOf).filter((size) => size !== undefined)
  if (sizes.length < list.items.length) return null
  return { op: 'aten::split_with_sizes', args: [inputArg(node), constant(sizes), constant(axis)] }
}

/** A dense copy of what is not dense. */
export function denseCopy(node: OperatorNode, analysis: Analysis): Canonical | null {
  const types = typesOf(node, analysis)
  if (types === null) return null
  const [from, to] = types
  if (isContiguous(from.shape, from.strides) || !sameShape(to.strides, contiguousStrides(to.shape)) || from.quant !== null) return null
  return { op: 'aten::contiguous', args: [inputArg(node), constant(0)] }
}

/** (input, window, ...) whose output is dense float32, without the places of the maxima. */
export function maxPool({ op, args, results: [first] }: OperatorNode, analysis: Analysis): Canonical | null {
  const isFloat = first?.kind === 'value' && isDenseFloat(analysis.type(first.id))
  return isFloat ? { op: op.replace('_with_indices', ''), args } : null
}
