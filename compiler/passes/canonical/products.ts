import { DType } from '../../../runtime/tensor/dtype.js'
import { isContiguous, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { viewStrides } from '../../../runtime/tensor/view-strides.js'
import { type Arg, constant, denseType, type OperatorNode, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, isNone, onlyResult, valueArg } from '../analysis.js'
import type { Editor } from '../editor.js'
import { type Canonical, NodesBefore } from './form.js'

/** An operand of `einsum`, a letter for each of its dimensions. */
interface Term {
  readonly id: ValueId
  readonly labels: string
}

interface Equation {
  readonly terms: readonly Term[]
  readonly out: string
}

/** Letters that stand for the dimensions of an ellipsis, counted from the last one. */
const HIDDEN = 'αβγδεζηθικλμ'

/**
 * `einsum` of one operand is a permutation, of two a product: of batches (letters of both and of the result) of rows (of one operand and the
 * result) and columns (of the other), summed over the letters that the result lacks.
 *
 *     %2 = aten::einsum('bnc,chd->bhnd', [%0, %1], None)
 *     →
 *     %3: [c, h * d] = aten::reshape(%1, [c, h * d])
 *     %4: [b, n, h * d] = aten::matmul(%0, %3)
 *     %5: [b, n, h, d] = aten::reshape(%4, [b, n, h, d])
 *     %2: [b, h, n, d] = aten::permute(%5, [0, 2, 1, 3])
 */
export function einsum(node: OperatorNode, analysis: Analysis, editor: Editor): Canonical | null {
  const equation = equationOf(node, analysis)
  const result = onlyResult(node)
  if (equation === null || result === undefined) return null
  const { terms, out } = equation
  const layout = new Layout(new NodesBefore(node, editor), editor)
  const [first, second] = terms as [Term, Term | undefined]
  const made = second === undefined ? { id: first.id, labels: first.labels } : productOf(first, second, out, layout)
  return made === null ? null : layout.finish(made, sizesOf(terms, analysis)!, out, result)
}

function equationOf({ args }: OperatorNode, analysis: Analysis): Equation | null {
  const [equation, list, path] = args
  if (equation?.kind !== 'constant' || typeof equation.value !== 'string' || list?.kind !== 'list' || !isNone(path)) return null
  const ids = list.items.map(valueArg).filter((id) => id !== undefined)
  const found = /^([^>-]+?)(?:->([^,]*))?$/.exec(equation.value.replaceAll(' ', ''))
  const parts = found?.[1]!.split(',') ?? []
  if (found === null || ids.length < list.items.length || ids.length > 2 || parts.length !== ids.length) return null
  const ranks = ids.map((id) => analysis.type(id).shape.length)
  const hidden = parts.map((part, i) => (part.includes('...') ? ranks[i]! - part.replace('...', '').length : 0))
  if (Math.max(...hidden) > HIDDEN.length) return null
  const lettersOf = (count: number): string => [...HIDDEN.slice(0, count)].reverse().join('')
  const terms = ids.map((id, i): Term => ({ id, labels: parts[i]!.replace('...', lettersOf(hidden[i]!)) }))
  const seen = parts.join('').replace(/[^A-Za-z]/g, '')
  const once = [...seen].filter((label) => seen.split(label).length === 2).sort()
  const out = (found[2] ?? `...${once.join('')}`).replace('...', lettersOf(Math.max(...hidden)))
  return isPlain({ terms, out }, analysis) ? { terms, out } : null
}

/** Of float32 with elements, without diagonals, sums of one operand alone and letters of several sizes. */
function isPlain({ terms, out }: Equation, analysis: Analysis): boolean {
  const types = terms.map(({ id }) => analysis.type(id))
  if (types.some(({ dtype, shape }, i) => dtype !== DType.float32 || shape.includes(0) || shape.length !== terms[i]!.labels.length))
    return false
  if ([...terms.map(({ labels }) => labels), out].some((labels) => new Set(labels).size < labels.length)) return false
  const isAlone = (label: string): boolean => !out.includes(label) && terms.filter(({ labels }) => labels.includes(label)).length < 2
  if (terms.some(({ labels }) => [...labels].some(isAlone))) return false
  const sizes = sizesOf(terms, analysis)
  return sizes !== null && [...out].every((label) => sizes.has(label))
}

/** The size of each letter; null where one has several. */
function sizesOf(terms: readonly Term[], analysis: Analysis): ReadonlyMap<string, number> | null {
  const sizes = new Map<string, number>()
  for (const { id, labels } of terms) {
    for (const [d, size] of analysis.type(id).shape.entries()) {
      if ((sizes.get(labels[d]!) ?? size) !== size) return null
      sizes.set(labels[d]!, size)
    }
  }
  return sizes
}

/** The product of two operands, with batches, rows and columns in this order. */
function productOf(first: Term, second: Term, out: string, layout: Layout): Term | null {
  const of = (other: Term): string => [...out].filter((label) => other.labels.includes(label)).join('')
  const lacking = (label: string, { labels }: Term): boolean => !labels.includes(label)
  const batch = [...of(first)].filter((label) => !lacking(label, second)).join('')
  // the operand with the first letters of its own has the rows
  const own = [...out].find((label) => !batch.includes(label))
  if (own === undefined) return null
  const [left, right] = lacking(own, second) ? [first, second] : [second, first]
  const rows = [...of(left)].filter((label) => lacking(label, right)).join('')
  const columns = [...of(right)].filter((label) => lacking(label, left)).join('')
  const summed = [...left.labels].filter((label) => !out.includes(label)).join('')
  if (columns === '' || rows === '' || summed === '') return null
  // without batches rows may have any number of dimensions
  const a = layout.grouped(left, [...batch, ...(batch === '' ? rows : [rows]), summed])
  const b = layout.grouped(right, [...batch, summed, columns])
  const shape = [...layout.shapeOf(a).slice(0, -1), layout.shapeOf(b).at(-1)!]
  return { id: layout.product(a, b, shape), labels: `${batch}${rows}${columns}` }
}

/** Brings operands and results into the layouts that a product needs and that its node had. */
class Layout {
  constructor(
    private readonly steps: NodesBefore,
    private readonly editor: Editor,
  ) {}

  shapeOf(id: ValueId): readonly number[] {
    return this.editor.typeOf(id).shape
  }

  product(a: ValueId, b: ValueId, shape: readonly number[]): ValueId {
    return this.add('aten::matmul', [value(a), value(b)], denseType(this.editor.typeOf(a).dtype, shape))
  }

  /** An operand with a dimension for each group of its letters. */
  grouped({ id, labels }: Term, groups: readonly string[]): ValueId {
    const turned = this.permuted(id, labels, groups.join(''))
    const { shape } = this.editor.typeOf(turned)
    let at = 0
    return this.reshaped(
      turned,
      groups.map((group) => numelOf(shape.slice(at, (at += group.length)))),
    )
  }

  private permuted(id: ValueId, labels: string, wanted: string): ValueId {
    if (labels === wanted) return id
    const order = [...wanted].map((label) => labels.indexOf(label))
    const type = this.editor.typeOf(id)
    const [shape, strides] = [type.shape, type.strides].map((list) => order.map((d) => list[d]!)) as [number[], number[]]
    return this.add('aten::permute', [value(id), constant(order)], { ...type, shape, strides }, this.editor.storageOf(id))
  }

  private reshaped(id: ValueId, shape: readonly number[]): ValueId {
    const type = this.editor.typeOf(id)
    if (sameShape(type.shape, shape)) return id
    const strides = viewStrides(type.shape, type.strides, shape)
    const args = [value(id), constant([...shape])]
    if (strides === null) return this.add('aten::reshape', args, denseType(type.dtype, shape))
    return this.add('aten::reshape', args, { ...type, shape, strides }, this.editor.storageOf(id))
  }

  /** The last node: what was made with these letters as the result had it. */
  finish(made: Term, sizes: ReadonlyMap<string, number>, out: string, result: ValueId): Canonical | null {
    const whole = this.reshaped(
      made.id,
      [...made.labels].map((label) => sizes.get(label)!),
    )
    const turned = this.permuted(whole, made.labels, out)
    const [found, wanted] = [this.editor.typeOf(turned), this.editor.typeOf(result)]
    const isShared = this.editor.storageOf(turned) === this.editor.storageOf(result)
    const isSame = found.shape.every((size, d) => size === 1 || found.strides[d] === wanted.strides[d])
    const last = this.steps.nodes.at(-1)
    if (isSame && last !== undefined && (isShared || this.steps.nodes.some(({ op }) => op === 'aten::matmul'))) {
      // the last view, or the product, gives the result itself
      const before = this.steps.nodes.slice(0, -1)
      this.move(turned, result)
      return { op: last.op, args: last.args, before }
    }
    if (isShared || !isContiguous(wanted.shape, wanted.strides)) return null
    const op = isContiguous(found.shape, found.strides) ? 'aten::clone' : 'aten::contiguous'
    return { op, args: [value(turned), constant(0)], before: this.steps.nodes }
  }

  /** Puts views that end in `id` where the result lies. */
  private move(id: ValueId, result: ValueId): void {
    const storage = this.editor.storageOf(id)
    for (const { results } of this.steps.nodes) {
      const made = results[0]?.kind === 'value' ? results[0].id : undefined
      if (made !== undefined && this.editor.storageOf(made) === storage)
        this.editor.setType(made, this.editor.typeOf(made), this.editor.storageOf(result))
    }
  }

  private add(op: string, args: readonly Arg[], type: TensorType, storage?: number): ValueId {
    return valueArg(this.steps.add(op, args, type, storage))!
  }
}
