import { DType } from '../../runtime/tensor/dtype.js'
import { readTensor } from '../../runtime/tensor/data.js'
import { isContiguous, sameShape } from '../../runtime/tensor/shape.js'
import { named } from '../graph/arguments.js'
import { type Arg, type GraphNode, type OperatorNode, value, type ValueId } from '../graph/graph.js'
import { type Analysis, inputArg, inputOf, numberArg, onlyResult, valueArg } from './analysis.js'

/** A number times values of one shape. */
export interface Product {
  readonly scale: number
  readonly factors: readonly ValueId[]
}

/** The number that an argument is: written in the program, or a constant tensor of one element. */
export function scalarOf(arg: Arg | undefined, analysis: Analysis): number | undefined {
  const id = valueArg(arg)
  if (id === undefined) return numberArg(arg)
  const tensor = analysis.tensor(id)
  if (tensor?.numel !== 1 || tensor.dim > 1 || (tensor.type !== DType.float32 && tensor.type !== DType.float64)) return undefined
  return Number(readTensor(tensor)[0])
}

/** The call of an operator without effects that makes a value. */
export function madeBy(arg: Arg | undefined, analysis: Analysis): OperatorNode | undefined {
  const id = valueArg(arg)
  const node = id === undefined ? undefined : analysis.producer(id)
  return node?.kind === 'operator' && analysis.isPure(node) ? node : undefined
}

/** The same, where it makes no difference that the operator is called later, even if its memory was written to before. */
export function settledMaker(arg: Arg | undefined, analysis: Analysis): OperatorNode | undefined {
  const id = valueArg(arg)
  const node = id === undefined ? undefined : analysis.producer(id)
  return node?.kind === 'operator' && analysis.canBeLater(node) ? node : undefined
}

/** How deep products are taken apart, and into how many factors: expressions that anybody looks for are small, and repeated squares are exponential. */
const MAX_DEPTH = 6
const MAX_FACTORS = 16

/** Takes apart products, quotients by numbers and whole powers: `x * 0.5 * x.pow(2)` is 0.5 times x, x and x. */
export function productOf(arg: Arg, analysis: Analysis, depth = MAX_DEPTH): Product {
  const found = productWithin(arg, analysis, depth)
  return found.factors.length > MAX_FACTORS ? { scale: 1, factors: [valueArg(arg)!] } : found
}

function productWithin(arg: Arg, analysis: Analysis, depth: number): Product {
  const id = valueArg(arg)!
  const itself = { scale: 1, factors: [id] }
  const node = depth === 0 ? undefined : madeBy(arg, analysis)
  if (node === undefined) return itself
  const inside = (arg: Arg): Product => productOf(arg, analysis, depth - 1)
  const [a, b] = node.args as [Arg, Arg | undefined]
  const number = scalarOf(b, analysis)
  const times = (factor: number): Product => {
    const inner = inside(a)
    return { scale: inner.scale * factor, factors: inner.factors }
  }
  const { shape } = analysis.type(id)
  const ofShape = (arg: Arg | undefined): boolean => {
    const value = valueArg(arg)
    return value !== undefined && sameShape(analysis.type(value).shape, shape)
  }
  switch (node.op) {
    case 'aten::mul.Scalar':
    case 'aten::mul.Tensor': {
      if (number !== undefined && ofShape(a)) return times(number)
      if (!ofShape(a) || !ofShape(b)) {
        const first = scalarOf(a, analysis)
        if (first === undefined || !ofShape(b)) return itself
        const inner = inside(b!)
        return { scale: inner.scale * first, factors: inner.factors }
      }
      const [p, q] = [inside(a), inside(b!)]
      return { scale: p.scale * q.scale, factors: [...p.factors, ...q.factors] }
    }
    case 'aten::div.Scalar':
    case 'aten::div.Tensor':
      return number !== undefined && number !== 0 && ofShape(a) ? times(1 / number) : itself
    case 'aten::square':
      return power(inside(a), 2)
    case 'aten::pow.Tensor_Scalar':
      return number === 2 || number === 3 ? power(inside(a), number) : itself
    default:
      return itself
  }
}

function power({ scale, factors }: Product, exponent: number): Product {
  return { scale: scale ** exponent, factors: Array.from({ length: exponent }, () => factors).flat() }
}

/** `%a + number`, in either order. */
export function plusNumber(arg: Arg | undefined, analysis: Analysis): { readonly term: Arg; readonly number: number } | null {
  const node = madeBy(arg, analysis)
  if (node === undefined || !/^aten::(add|sub)\.(Tensor|Scalar)$/.test(node.op) || numberArg(named(node, 'alpha')) !== 1) return null
  const [a, b] = node.args as [Arg, Arg]
  const subtracts = node.op.startsWith('aten::sub')
  const [second, first] = [scalarOf(b, analysis), scalarOf(a, analysis)]
  if (second !== undefined) return { term: a, number: subtracts ? -second : second }
  return first !== undefined && !subtracts ? { term: b, number: first } : null
}

/** Both sides of `%a + %b`. */
export function sumOf(arg: Arg | undefined, analysis: Analysis): readonly [Arg, Arg] | null {
  const node = madeBy(arg, analysis)
  if (node?.op !== 'aten::add.Tensor' || numberArg(named(node, 'alpha')) !== 1) return null
  return [inputArg(node), named(node, 'other')]
}

/** The argument and bounds of relu6, hardtanh or clamp with both bounds. */
export function clampOf(
  arg: Arg | undefined,
  analysis: Analysis,
): { readonly term: Arg; readonly min: number; readonly max: number } | null {
  const node = madeBy(arg, analysis)
  if (node === undefined) return null
  const term = inputArg(node)
  if (node.op === 'aten::relu6') return { term, min: 0, max: 6 }
  const names = node.op === 'aten::clamp' ? ['min', 'max'] : node.op === 'aten::hardtanh' ? ['min_val', 'max_val'] : []
  const [min, max] = names.map((name) => numberArg(named(node, name)))
  return min === undefined || max === undefined ? null : { term, min, max }
}

/** The values that a value is a view of, the nearest first. */
export function viewedBy(id: ValueId, analysis: Analysis): ValueId[] {
  const found: ValueId[] = []
  for (let at: ValueId | undefined = id; at !== undefined;) {
    const made = madeBy(value(at), analysis)
    const from: ValueId | undefined = inputOf(made)
    at = from !== undefined && analysis.storage(from) === analysis.storage(id) ? from : undefined
    if (at !== undefined) found.push(at)
  }
  return found
}

/** Equal but for the rounding of a decimal fraction to float32. */
export function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-6 * Math.abs(b)
}

/** True for a float32 node whose one result is dense, as is `input`, of the same shape: one operator can stand for it. */
export function replacesDense(node: GraphNode, input: ValueId, analysis: Analysis): boolean {
  const result = onlyResult(node)
  if (result === undefined || !analysis.isPure(node) || !analysis.isSteady(input)) return false
  const [a, b] = [analysis.type(input), analysis.type(result)]
  return (
    a.dtype === DType.float32 &&
    b.dtype === DType.float32 &&
    sameShape(a.shape, b.shape) &&
    isContiguous(a.shape, a.strides) &&
    isContiguous(b.shape, b.strides)
  )
}
