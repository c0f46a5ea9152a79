import { DType } from '../../../runtime/tensor/dtype.js'
import { isDense } from '../../../runtime/tensor/view-strides.js'
import { numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, type GraphNode, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputArg, inputOf, numberArg, onlyResult, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { madeBy, sumOf, viewedBy } from '../expression.js'
import type { Pass } from '../pass.js'

/** Dimensions that the kernel's frame has room for, the last one included. */
const MAX_DIMS = 4

/**
 * Recognises rotary position embedding (Su et al., "RoFormer"), whose kernel reads a projection where it lies. Each element is multiplied
 * by a cosine, and by a sine the other one of its pair: half of the row away, as in Llama and GPT-NeoX, or beside it, as in GPT-J.
 *
 *     %1 = aten::mul.Tensor(%0, %cos)
 *     %2 = aten::slice.Tensor(%0, 3, 32, 64, 1)
 *     %3 = aten::neg(%2)
 *     %4 = aten::slice.Tensor(%0, 3, 0, 32, 1)
 *     %5 = aten::cat([%3, %4], -1)
 *     %6 = aten::mul.Tensor(%5, %sin)
 *     %7 = aten::add.Tensor(%1, %6, 1)            →   %7 = rotary(input=%0, cos=%cos, sin=%sin, rotated=64, ...)
 *
 * Also where halves are turned one by one, with an angle per pair, and joined then; and where a row has more elements, to which `cat` joins
 * what was turned.
 */
export const rotary: Pass = {
  name: 'rotary embedding',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const turned = turnedWhole(node, analysis) ?? turnedByHalves(node, analysis)
      if (turned === null || !fits(turned, node, analysis)) continue
      const { node: last, input } = widened(turned, node, analysis)
      const { strides } = analysis.type(onlyResult(last)!)
      const { cos, sin, rotated, interleaved } = turned
      if (last !== node) editor.replaceNode(node, [])
      editor.replaceNode(last, [{ ...baseOf(last), kind: 'rotary', input, cos, sin, rotated, interleaved, strides }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

interface Turned {
  readonly input: ValueId
  readonly cos: ValueId
  readonly sin: ValueId
  /** Elements of each row, all of which are turned. */
  readonly rotated: number
  readonly interleaved: boolean
}

/** `x cos + y sin`, where y has the other ones of the pairs, the first negated. */
function turnedWhole(node: GraphNode, analysis: Analysis): Turned | null {
  const sum = onlyResult(node) === undefined ? null : sumOf(value(onlyResult(node)!), analysis)
  if (sum === null) return null
  for (const [first, second] of [sum, [sum[1], sum[0]]] as const) {
    for (const [exchanged, sin] of factorsOf(second, analysis)) {
      const pairs = exchangedOf(exchanged, analysis)
      if (pairs === null) continue
      for (const [x, cos] of factorsOf(first, analysis)) {
        const rotated = analysis.type(x).shape.at(-1)!
        if (rotated % 2 !== 0 || !arePairs(pairs, x, analysis)) continue
        return { input: x, cos, sin, rotated, interleaved: pairs.interleaved }
      }
    }
  }
  return null
}

/** The first and second ones of the pairs of a row. */
interface Pairs {
  readonly first: ValueId
  readonly second: ValueId
  readonly interleaved: boolean
}

/** Takes apart `cat([-second, first])`, or `stack` where pairs are neighbours. */
function exchangedOf(id: ValueId, analysis: Analysis): Pairs | null {
  const joined = joinedOf(id, analysis)
  const negated = joined === null ? undefined : madeBy(value(joined.parts[0]), analysis)
  const second = negated?.op === 'aten::neg' ? inputOf(negated) : undefined
  return joined === null || second === undefined ? null : { first: joined.parts[1], second, interleaved: joined.interleaved }
}

/** The two parts that make a row, one behind the other, or element by element in turns. */
function joinedOf(id: ValueId, analysis: Analysis): { parts: readonly [ValueId, ValueId]; interleaved: boolean } | null {
  const made = madeBy(value(id), analysis)
  const rank = analysis.type(id).shape.length
  const partsOf = (node: OperatorNode, along: number): readonly [ValueId, ValueId] | null => {
    const [list, dim] = node.args as [Arg, Arg]
    const axis = numberArg(dim)
    const ids = list.kind === 'list' ? list.items.map(valueArg) : []
    const last = axis === -1 || axis === along
    return last && ids.length === 2 && ids.every((part) => part !== undefined) ? (ids as [ValueId, ValueId]) : null
  }
  if (made?.op === 'aten::cat') {
    const parts = partsOf(made, rank - 1)
    return parts === null ? null : { parts, interleaved: false }
  }
  if (made?.op !== 'aten::reshape') return null
  const stacked = madeBy(inputArg(made), analysis)
  const parts = stacked?.op === 'aten::stack' ? partsOf(stacked, rank) : null
  // what was stacked along a last dimension of two becomes one row
  const fits = parts?.every((part) => {
    const { shape } = analysis.type(part)
    return shape.length === rank && sameShape([...shape.slice(0, -1), 2 * shape.at(-1)!], analysis.type(id).shape)
  })
  return parts !== null && fits === true ? { parts, interleaved: true } : null
}

/** Whether values show the first and the second ones of the pairs of each row of `x`. */
function arePairs({ first, second, interleaved }: Pairs, x: ValueId, analysis: Analysis): boolean {
  const half = analysis.type(x).shape.at(-1)! / 2
  const step = interleaved ? 2 : 1
  return (
    shows(first, x, { start: 0, step, count: half }, analysis) &&
    shows(second, x, { start: interleaved ? 1 : half, step, count: half }, analysis)
  )
}

interface Columns {
  readonly start: number
  readonly step: number
  readonly count: number
}

/** Whether a value is a view of some elements of each row of `of`. */
function shows(id: ValueId, of: ValueId, { start, step, count }: Columns, analysis: Analysis): boolean {
  if (analysis.storage(id) !== analysis.storage(of) || !analysis.isSteady(of)) return false
  const [view, whole] = [analysis.type(id), analysis.type(of)]
  const stride = whole.strides.at(-1)!
  const strides = [...whole.strides.slice(0, -1), stride * step]
  return (
    view.dtype === whole.dtype &&
    view.offset === whole.offset + start * stride &&
    sameShape(view.shape, [...whole.shape.slice(0, -1), count]) &&
    view.strides.every((s, d) => view.shape[d] === 1 || s === strides[d])
  )
}

/** `cat` or `stack` of `a cos - b sin` and `b cos + a sin`. */
function turnedByHalves(node: GraphNode, analysis: Analysis): Turned | null {
  const result = onlyResult(node)
  const joined = result === undefined ? null : joinedOf(result, analysis)
  if (joined === null) return null
  const difference = madeBy(value(joined.parts[0]), analysis)
  const sum = sumOf(value(joined.parts[1]), analysis)
  if (difference?.op !== 'aten::sub.Tensor' || numberArg(named(difference, 'alpha')) !== 1 || sum === null) return null
  for (const [first, cos] of factorsOf(inputArg(difference), analysis)) {
    for (const [second, sin] of factorsOf(named(difference, 'other'), analysis)) {
      const agrees = [sum, [sum[1], sum[0]] as const].some(
        ([a, b]) =>
          factorsOf(a, analysis).some(([x, c]) => x === second && c === cos) &&
          factorsOf(b, analysis).some(([x, s]) => x === first && s === sin),
      )
      const input = agrees ? wholeOf({ first, second, interleaved: joined.interleaved }, analysis) : undefined
      if (input === undefined) continue
      const rotated = analysis.type(input).shape.at(-1)!
      return { input, cos, sin, rotated, interleaved: joined.interleaved }
    }
  }
  return null
}

/** What the first and second ones of pairs are views of. */
function wholeOf(pairs: Pairs, analysis: Analysis): ValueId | undefined {
  return viewedBy(pairs.first, analysis).find((id) => {
    const width = analysis.type(id).shape.at(-1)
    return width !== undefined && width > 1 && width % 2 === 0 && arePairs(pairs, id, analysis)
  })
}

/** Both factors of a product, either first. */
function factorsOf(arg: Arg, analysis: Analysis): (readonly [ValueId, ValueId])[] {
  const made = madeBy(arg, analysis)
  const [a, b] = made?.args.map(valueArg) ?? []
  if (made?.op !== 'aten::mul.Tensor' || a === undefined || b === undefined) return []
  return [
    [a, b],
    [b, a],
  ]
}

function fits({ input, cos, sin, rotated }: Turned, node: GraphNode, analysis: Analysis): boolean {
  const [x, out] = [analysis.type(input), analysis.type(onlyResult(node)!)]
  const angles = analysis.type(cos).shape.at(-1)
  const isTable = (id: ValueId): boolean => {
    const { dtype, shape } = analysis.type(id)
    const missing = x.shape.length - shape.length
    const broadcast = missing >= 0 && shape.slice(0, -1).every((size, d) => size === 1 || size === x.shape[missing + d])
    return dtype === DType.float32 && broadcast && shape.at(-1) === angles && analysis.isSteady(id)
  }
  return (
    analysis.isPure(node) &&
    x.dtype === DType.float32 &&
    out.dtype === DType.float32 &&
    x.shape.length <= MAX_DIMS &&
    numelOf(x.shape) > 0 &&
    sameShape(x.shape, out.shape) &&
    isRowDense(out.shape, out.strides) &&
    (angles === rotated || angles === rotated / 2) &&
    isTable(cos) &&
    isTable(sin)
  )
}

function isRowDense(shape: readonly number[], strides: readonly number[]): boolean {
  return isDense(shape, strides) && (shape.at(-1) === 1 || strides.at(-1) === 1)
}

/** The node that joins what was turned to the rest of longer rows, where there is one, and what all is read from. */
function widened({ input, rotated }: Turned, node: GraphNode, analysis: Analysis): { node: GraphNode; input: ValueId } {
  const same = { node, input }
  const turned = onlyResult(node)!
  const next = analysis.onlyReader(turned)
  const result = next === undefined ? undefined : onlyResult(next)
  const joined = result === undefined || !analysis.isPure(next!) ? null : joinedOf(result, analysis)
  if (joined === null || joined.interleaved || joined.parts[0] !== turned || next!.op !== 'aten::cat') return same
  const rest = joined.parts[1]
  const { shape, strides } = analysis.type(result!)
  if (rest === turned || !isRowDense(shape, strides)) return same
  // the rest may be none
  const whole = [input, ...viewedBy(input, analysis)].find(
    (id) =>
      sameShape(analysis.type(id).shape, shape) &&
      shows(input, id, { start: 0, step: 1, count: rotated }, analysis) &&
      shows(rest, id, { start: rotated, step: 1, count: shape.at(-1)! - rotated }, analysis),
  )
  return whole === undefined ? same : { node: next!, input: whole }
}
