import { check } from '../../error.js'
import { contiguousStrides, numelOf } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousCopy, contiguousOf } from '../support/copy.js'
import * as at from '../generated/dispatch.js'

/** A tensor whose dimensions have names; dimensions of an ellipsis are '.0', '.1', … counted from the right. */
interface Term {
  readonly tensor: Tensor
  readonly labels: readonly string[]
}

interface Equation {
  readonly inputs: readonly (readonly string[])[]
  /** null where the equation leaves it out. */
  readonly output: readonly string[] | null
}

const ELLIPSIS = '...'

function readSubscripts(part: string): string[] {
  const labels: string[] = []
  for (let i = 0; i < part.length; i++) {
    const c = part[i]!
    if (/[A-Za-z]/.test(c)) labels.push(c)
    else if (part.startsWith(ELLIPSIS, i) && !labels.includes(ELLIPSIS)) {
      labels.push(ELLIPSIS)
      i += 2
    } else check(c === ' ', () => `einsum: expected letters and at most one '...' per operand, found '${part}'`)
  }
  return labels
}

function readEquation(equation: string): Equation {
  const arrow = equation.indexOf('->')
  const left = arrow < 0 ? equation : equation.slice(0, arrow)
  return { inputs: left.split(',').map(readSubscripts), output: arrow < 0 ? null : readSubscripts(equation.slice(arrow + 2)) }
}

/** Names every dimension of an operand; a name that repeats takes the diagonal. */
function nameDims(tensor: Tensor, subscripts: readonly string[]): Term {
  const hidden = tensor.dim - subscripts.filter((l) => l !== ELLIPSIS).length
  check(
    subscripts.includes(ELLIPSIS) ? hidden >= 0 : hidden === 0,
    () => `einsum: the subscripts '${subscripts.join('')}' do not fit a tensor of shape [${tensor.shape.join(', ')}]`,
  )
  const all = subscripts.flatMap((l) => (l === ELLIPSIS ? Array.from({ length: hidden }, (_, i) => `.${hidden - 1 - i}`) : [l]))
  const labels: string[] = []
  const shape: number[] = []
  const strides: number[] = []
  all.forEach((label, d) => {
    const seen = labels.indexOf(label)
    if (seen < 0) {
      labels.push(label)
      shape.push(tensor.shape[d]!)
      strides.push(tensor.strides[d]!)
      return
    }
    check(
      shape[seen] === tensor.shape[d],
      () => `einsum: subscript '${label}' names dimensions of sizes ${shape[seen]!} and ${tensor.shape[d]!} of one operand`,
    )
    strides[seen]! += tensor.strides[d]!
  })
  return { tensor: viewOf(tensor, shape, strides), labels }
}

/** Without '->': the dimensions of the ellipsis, then the letters that occur once, in alphabetical order. */
function impliedOutput(terms: readonly Term[], inputs: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>()
  for (const l of inputs.flat()) if (l !== ELLIPSIS) counts.set(l, (counts.get(l) ?? 0) + 1)
  const letters = [...counts].filter(([, n]) => n === 1).map(([l]) => l)
  return [...ellipsisDims(terms), ...letters.sort()]
}

function ellipsisDims(terms: readonly Term[]): string[] {
  const count = Math.max(0, ...terms.map((t) => t.labels.filter((l) => l.startsWith('.')).length))
  return Array.from({ length: count }, (_, i) => `.${count - 1 - i}`)
}

/** Size of every name; sizes of 1 are repeated. */
function sizesOf(terms: readonly Term[]): Map<string, number> {
  const sizes = new Map<string, number>()
  for (const { tensor, labels } of terms) {
    labels.forEach((label, d) => {
      const size = tensor.shape[d]!
      const known = sizes.get(label) ?? 1
      check(
        known === 1 || size === 1 || known === size,
        () => `einsum: subscript '${label}' names dimensions of sizes ${known} and ${size}`,
      )
      sizes.set(label, known === 1 ? size : known)
    })
  }
  return sizes
}

/** The term's dimensions in this order, absent ones and ones of size 1 repeated to `sizes`. */
function arranged(term: Term, order: readonly string[], sizes: ReadonlyMap<string, number>): Tensor {
  const { tensor, labels } = term
  const shape = order.map((l) => sizes.get(l)!)
  const strides = order.map((l, i) => {
    const d = labels.indexOf(l)
    return d < 0 || (tensor.shape[d] === 1 && shape[i] !== 1) ? 0 : tensor.strides[d]!
  })
  return viewOf(tensor, shape, strides)
}

/** Three runs of dimensions as three dimensions. */
function asThree(t: Tensor, first: number, second: number): Tensor {
  const shape = [numelOf(t.shape.slice(0, first)), numelOf(t.shape.slice(first, first + second)), numelOf(t.shape.slice(first + second))]
  return viewOf(contiguousOf(t), shape, contiguousStrides(shape))
}

/** Adds up the dimensions that nobody else needs. */
function summed(term: Term, needed: ReadonlySet<string>): Term {
  const gone = term.labels.flatMap((l, d) => (needed.has(l) ? [] : [d]))
  if (gone.length === 0) return term
  return { tensor: at.sum_dim_IntList(term.tensor, gone, false, null), labels: term.labels.filter((l) => needed.has(l)) }
}

/** The product of two terms over the names that are not kept, as one batched matrix product. */
function contract(a: Term, b: Term, kept: ReadonlySet<string>): Term {
  const x = summed(a, new Set([...kept, ...b.labels]))
  const y = summed(b, new Set([...kept, ...a.labels]))
  const sizes = sizesOf([x, y])
  const both = x.labels.filter((l) => y.labels.includes(l))
  const batch = both.filter((l) => kept.has(l))
  const over = both.filter((l) => !kept.has(l))
  const left = x.labels.filter((l) => !both.includes(l))
  const right = y.labels.filter((l) => !both.includes(l))
  if (over.length === 0) {
    const labels = [...batch, ...left, ...right]
    const aligned = (t: Term): Tensor => arranged(t, labels, new Map(labels.map((l) => [l, t.labels.includes(l) ? sizes.get(l)! : 1])))
    return { tensor: at.mul_Tensor(aligned(x), aligned(y)), labels }
  }
  const p = asThree(arranged(x, [...batch, ...left, ...over], sizes), batch.length, left.length)
  const q = asThree(arranged(y, [...batch, ...over, ...right], sizes), batch.length, over.length)
  const labels = [...batch, ...left, ...right]
  const shape = labels.map((l) => sizes.get(l)!)
  return { tensor: viewOf(at.bmm(p, q), shape, contiguousStrides(shape)), labels }
}

/** torch.einsum. Operands are contracted from left to right, or as `path` says. */
export function einsum(equation: string, tensors: Tensor[], path: number[] | null): Tensor {
  const { inputs, output } = readEquation(equation)
  check(
    tensors.length > 0 && inputs.length === tensors.length,
    () => `einsum: expected ${inputs.length} operands for '${equation}', found ${tensors.length}`,
  )
  const terms = tensors.map((t, i) => nameDims(t, inputs[i]!))
  const sizes = sizesOf(terms)
  const named = output?.flatMap((l) => (l === ELLIPSIS ? ellipsisDims(terms) : [l])) ?? impliedOutput(terms, inputs)
  for (const [i, l] of named.entries()) {
    check(sizes.has(l) && named.indexOf(l) === i, () => `einsum: the output subscript '${l}' must occur once there and in an operand`)
  }
  check(
    path === null || path.length === Math.max(1, 2 * (terms.length - 1)),
    () => `einsum: a path of ${path!.length} does not fit ${terms.length} operands`,
  )
  const order = path === null || terms.length === 1 ? null : path
  for (let step = 0; terms.length > 1; step++) {
    const i = order === null ? 0 : order[2 * step]!
    const j = order === null ? 1 : order[2 * step + 1]!
    check(
      i !== j && terms[i] !== undefined && terms[j] !== undefined,
      () => `einsum: the path names operands ${i} and ${j} of ${terms.length}`,
    )
    const rest = terms.filter((_, t) => t !== i && t !== j)
    const result = contract(terms[i]!, terms[j]!, new Set([...named, ...rest.flatMap((t) => t.labels)]))
    terms.length = 0
    if (order === null) terms.push(result, ...rest)
    else terms.push(...rest, result)
  }
  const last = summed(terms[0]!, new Set(named))
  return contiguousCopy(arranged(last, named, sizes))
}
