import { check, PtliteError } from '../../error.js'
import { pace } from '../../pace.js'
import { kindOf } from '../../tensor/kind-of.js'
import { growBy } from '../../tensor/element-budget.js'
import { Float, type Int } from '../../tensor/scalar.js'
import { PairMap } from '../../tensor/rebuild.js'
import { Tensor } from '../../tensor/tensor.js'
import { Tuple, type Value } from '../../tensor/value.js'
import { countWhere } from './list-search.js'
import { compareBytes } from './support/bytes.js'
import { addInt, wrapInt32 } from './support/integer.js'
import { elementOf, tensorLess } from './support/equality.js'
import { floatOf, plainItem } from './support/scalar.js'

/* Sorting, extremes and sums of lists. */

type Compare<T> = (a: T, b: T) => number

const compareNumbers: Compare<Value> = (a, b) => {
  pace()
  const [x, y] = [plainItem(a), plainItem(b)]
  return x < y ? -1 : x > y ? 1 : 0
}
const compareFloats: Compare<Value> = (a, b) => compareNumbers(floatOf(a), floatOf(b))
const compareStrings: Compare<Value> = (a, b) => compareBytes(textOf(a), textOf(b))

/** Lists of strings come as they are. */
function textOf(value: Value): string {
  if (typeof value !== 'string') throw new PtliteError('INVALID_ARGUMENT', `expected strings to sort, found ${kindOf(value)}`)
  return value
}

const compareTensors: Compare<Tensor> = (a, b) => (tensorLess(a, b) ? -1 : tensorLess(b, a) ? 1 : 0)

/** Pairs of tuples that were found equal in a sort. */
type Equal = PairMap<Tuple, Tuple, true>

/** How to compare numbers, strings, one-element tensors, and tuples of them, element by element. Throws INVALID_ARGUMENT for other values. */
function comparison(): Compare<Value> {
  const equal: Equal = new PairMap()
  return (a, b) => (a instanceof Tuple && b instanceof Tuple ? compareTuples(a, b, equal) : compareItems(a, b))
}

function compareItems(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b)
  if (a instanceof Tensor && b instanceof Tensor) return compareTensors(a, b)
  check(isNumber(a) && isNumber(b), () => 'expected numbers, strings, tensors or tuples of them to sort')
  return compareNumbers(a, b)
}

function isNumber(v: Value): boolean {
  return v instanceof Float || typeof v === 'number' || typeof v === 'bigint' || typeof v === 'boolean'
}

/** The first pair of items that differ decides. Pairs of tuples within are compared once, at any depth. */
function compareTuples(a: Tuple, b: Tuple, equal: Equal): number {
  const open = [{ a, b, next: 0 }]
  for (;;) {
    pace(4)
    const top = open.at(-1)!
    const [x, y] = [top.a.items, top.b.items]
    if (top.next >= Math.min(x.length, y.length)) {
      if (x.length !== y.length) return x.length - y.length
      equal.set(top.a, top.b, true)
      open.pop()
      if (open.length === 0) return 0
      continue
    }
    const [p, q] = [x[top.next]!, y[top.next]!]
    top.next++
    if (p instanceof Tuple && q instanceof Tuple) {
      if (equal.get(p, q) === undefined) open.push({ a: p, b: q, next: 0 })
    } else {
      const order = compareItems(p, q)
      if (order !== 0) return order
    }
  }
}

function sortBy<T>(list: T[], compare: Compare<T>, reverse: boolean): void {
  list.sort(reverse ? (a, b) => compare(b, a) : compare)
}

/** Ints or bools, in place. */
export function list_sort(self: Value[], reverse: boolean): void {
  sortBy(self, compareNumbers, reverse)
}

export function list_sort_float(self: Value[], reverse: boolean): void {
  sortBy(self, compareFloats, reverse)
}

export function list_sort_str(self: Value[], reverse: boolean): void {
  sortBy(self, compareStrings, reverse)
}

/** Tensors of one element each. */
export function list_sort_tensor(self: Tensor[], reverse: boolean): void {
  // a single one is compared with nothing
  if (self.length < 2) return
  // each is read once
  const elements = new Map(self.map((t) => [t, elementOf(t)]))
  sortBy(self, (a, b) => compareNumbers(elements.get(a)!, elements.get(b)!), reverse)
}

/** Elements of one kind that have an order; class instances, whose order is a method, do not. */
export function list_sort_any(self: Value[], reverse: boolean): void {
  sortBy(self, comparison(), reverse)
}

function copyOf<T extends Value>(list: T[]): T[] {
  growBy(list.length)
  return list.slice()
}

export function list_sorted_any(self: Value[]): Value[] {
  return copyOf(self).sort(comparison())
}

export function list_sorted(input: Value[]): Value[] {
  return copyOf(input).sort(compareNumbers)
}

export function list_sorted_float(input: Value[]): Value[] {
  return copyOf(input).sort(compareFloats)
}

export function list_sorted_str(input: Value[]): Value[] {
  return copyOf(input).sort(compareStrings)
}

export function list_sorted_tensor(input: Tensor[]): Tensor[] {
  return copyOf(input).sort(compareTensors)
}

function extreme(list: Value[], better: (a: Value, b: Value) => boolean, what: string): Value {
  pace(list.length)
  if (list.length === 0) throw new PtliteError('MODEL_ERROR', `ValueError: ${what}() arg is an empty sequence`)
  let best = list[0]!
  for (let i = 1; i < list.length; i++) if (better(list[i]!, best)) best = list[i]!
  return best
}

export function list_min_int(self: Value[]): Int {
  return extreme(self, (a, b) => plainItem(a) < plainItem(b), 'min') as Int
}

export function list_max_int(self: Value[]): Int {
  return extreme(self, (a, b) => plainItem(a) > plainItem(b), 'max') as Int
}

export function list_min_float(self: Value[]): number {
  return floatOf(extreme(self, (a, b) => floatOf(a) < floatOf(b), 'min'))
}

export function list_max_float(self: Value[]): number {
  return floatOf(extreme(self, (a, b) => floatOf(a) > floatOf(b), 'max'))
}

export function list_min_bool(self: Value[]): boolean {
  return extreme(self, (a, b) => plainItem(a) < plainItem(b), 'min') as boolean
}

export function list_max_bool(self: Value[]): boolean {
  return extreme(self, (a, b) => plainItem(a) > plainItem(b), 'max') as boolean
}

/** Compares element by element, then by length. */
function compareLists(l: Value[], r: Value[]): number {
  const count = Math.min(l.length, r.length)
  pace(count)
  for (let i = 0; i < count; i++) {
    const [a, b] = [floatOf(l[i]!), floatOf(r[i]!)]
    if (a !== b) return a < b ? -1 : 1
  }
  return l.length - r.length
}

/** The lesser of two lists of numbers or bools; the right one where they are equal. */
export function list_min_of(l: Value[], r: Value[]): Value[] {
  return compareLists(l, r) < 0 ? l : r
}

export function list_max_of(l: Value[], r: Value[]): Value[] {
  return compareLists(l, r) > 0 ? l : r
}

/** An item of a list of ints, which holds whatever a program has put there. */
function intItem(v: Value): Int {
  check(typeof v === 'number' || typeof v === 'bigint' || typeof v === 'boolean', () => `expected a list of ints, found ${kindOf(v)} in it`)
  return Number(v) === v || typeof v === 'bigint' ? v : Number(v)
}

/** Sum of ints, in 32 bits as PyTorch adds them. */
export function list_sum_int(self: Value[]): Int {
  pace(self.length)
  let sum: Int = 0
  for (const v of self) sum = addInt(sum, intItem(v))
  return wrapInt32(sum)
}

export function list_sum_float(self: Value[]): number {
  pace(self.length)
  let sum = 0
  for (const v of self) sum += floatOf(v)
  return sum
}

/** Number of true elements. */
export function list_sum_bool(self: Value[]): number {
  return countWhere(self, (v) => v === true)
}
