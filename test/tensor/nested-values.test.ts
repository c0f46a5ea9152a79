import t, { type Test } from 'tap'
import { toOutput, toValue, type Input, type Output } from '../../src/values/convert.js'
import { toTyped, tuple } from '../../src/values/coerce.js'
import * as order from '../../runtime/operators/builtin/list-order.js'
import * as truth from '../../runtime/operators/builtin/list-search.js'
import { list_index_float } from '../../runtime/operators/builtin/list-index.js'
import { sameFloats } from '../../runtime/operators/builtin/support/equality.js'
import { hash } from '../../runtime/operators/builtin/prim.js'
import { list_to_tensor, tensor_of_list } from '../../runtime/operators/builtin/tensor-construct.js'
import { type NamedTuples, parseType } from '../../program/types.js'
import { matchesType } from '../../program/type-match.js'
import { valueText } from '../../runtime/operators/builtin/support/value-text.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { deepList, randomGraph, sharedTuples } from './random-values.js'
import { textByDefinition } from './text-reference.js'

/** Fails unless `output` is the form of `value`, with the same objects shared. Returns how many containers there are. */
function checkOutput(t: Test, value: Value, output: Output): number {
  const outputs = new Map<object, unknown>()
  const pending: [Value, Output][] = [[value, output]]
  while (pending.length > 0) {
    const [v, o] = pending.pop()!
    if (v instanceof Float) {
      if (o !== v.value) t.fail(`${String(o)} for ${v.value}`)
    } else if (typeof v !== 'object' || v === null) {
      if (o !== v) t.fail(`${String(o)} for ${String(v)}`)
    } else if (outputs.has(v)) {
      if (outputs.get(v) !== o) t.fail('a container became two')
    } else {
      outputs.set(v, o)
      const items = v instanceof Map ? [...v.values()] : v instanceof Tuple ? v.items : (v as Value[])
      const made = o instanceof Map ? [...o.values()] : (o as Output[])
      if (v instanceof Map !== o instanceof Map || items.length !== made.length) t.fail('another container')
      items.forEach((item, i) => pending.push([item, made[i]!]))
    }
  }
  t.equal(new Set(outputs.values()).size, outputs.size, 'two containers stay two')
  return outputs.size
}

t.test('results keep what they share', (t) => {
  for (let seed = 0; seed < 200; seed++) {
    const value = randomGraph(seed, 1 + (seed % 12), seed % 2 === 0)
    checkOutput(t, value, toOutput(value))
  }
  const list = [1, ['a', null]]
  t.equal(toOutput(list), list, 'what needs no conversion is given as it is')
  t.end()
})

t.test('results of any depth, and with any number of paths', (t) => {
  t.equal(checkOutput(t, sharedTuples(60), toOutput(sharedTuples(60))), 60)
  for (const depth of [5000, 100_000]) {
    const lists = deepList(depth, new Float(1.5))
    t.equal(checkOutput(t, lists, toOutput(lists)), depth)
    let tuples: Value = 1
    for (let i = 0; i < depth; i++) tuples = new Tuple([tuples])
    t.equal(checkOutput(t, tuples, toOutput(tuples)), depth)
  }
  t.end()
})

t.test('arguments', (t) => {
  const shared: Input[] = [undefined, 1.5]
  let input: Input = shared
  for (let i = 0; i < 60; i++) input = [input, input]
  let value = toValue(input) as Value[]
  for (let i = 0; i < 60; i++) {
    t.equal(value[0], value[1])
    value = value[0] as Value[]
  }
  t.strictSame(value, [null, new Float(1.5)])
  const own = deepList(100_000) as Input
  t.equal(toValue(own), own, 'by reference')
  const cycle: Input[] = [1]
  cycle.push([cycle])
  t.throws(() => toValue(cycle), { code: 'INVALID_ARGUMENT', message: /in itself/ })
  const map = new Map<string, Input>()
  map.set('me', map)
  t.throws(() => tuple(map), { code: 'INVALID_ARGUMENT', message: /in itself/ })
  t.throws(() => toValue([[Symbol('x') as unknown as Input]]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('types of shared values', (t) => {
  const levels = 60
  const text = `${'List['.repeat(levels)}float${']'.repeat(levels)}`
  const type = parseType(text, new Map())
  let input: Input = [1]
  for (let i = 1; i < levels; i++) input = [input, input]
  let value = toTyped(input, type, 'x')
  t.ok(matchesType(value, type))
  for (let i = 1; i < levels; i++) value = (value as Value[])[i % 2]!
  t.strictSame(value, [new Float(1)])
  // classes of tuples that name each other nest no deeper than types that say it all
  const names: NamedTuples = new Map()
  t.throws(
    () => {
      for (let i = 0; i < 100; i++) parseType(`T${i}[NamedTuple, [[a, ${i === 0 ? 'int' : `T${i - 1}`}], [b, int]]]`, names)
    },
    { code: 'INVALID_FILE', message: /levels/ },
  )
  t.end()
})

t.test('texts', (t) => {
  for (let seed = 0; seed < 300; seed++) {
    const value = randomGraph(seed, 1 + (seed % 8), seed % 2 === 0)
    t.equal(valueText(value), textByDefinition(value), `seed ${seed}`)
  }
  t.equal(valueText(sharedTuples(2)), '((1, 1), (1, 1))')
  t.equal(valueText(deepList(100_000)).length, 200_001)
  t.throws(() => valueText(sharedTuples(60)), { code: 'LIMIT_EXCEEDED' })
  // all of forty lists in each other: their paths without a repeated one cannot be counted
  const all: Value[][] = Array.from({ length: 40 }, () => [])
  for (const list of all) list.push(...all)
  t.throws(() => valueText(all), { code: 'OUT_OF_MEMORY' })
  t.end()
})

t.test('hashes', (t) => {
  t.equal(hash(new Tuple([new Tuple([1, 'a']), new Tuple([1, 'a'])])), hash(new Tuple(new Array<Value>(2).fill(new Tuple([1, 'a'])))))
  t.not(hash(sharedTuples(60, 1)), hash(sharedTuples(60, 2)))
  let deep: Value = 1
  for (let i = 0; i < 100_000; i++) deep = new Tuple([deep])
  hash(deep)
  const cycle = new Tuple([])
  cycle.items.push(cycle)
  t.throws(() => hash(cycle), { code: 'MODEL_ERROR' })
  t.end()
})

t.test('order', (t) => {
  const [low, middle, high] = [1, 2, 3].map((x) => sharedTuples(60, x)) as [Value, Value, Value]
  t.ok(order.list_sorted_any([high, low, middle, low]).every((value, i) => value === [low, low, middle, high][i]))
  const [one, two] = [1, 2].map((x) => {
    let deep: Value = x
    for (let i = 0; i < 100_000; i++) deep = new Tuple([deep])
    return deep
  }) as [Value, Value]
  t.equal(order.list_sorted_any([two, one])[0], one)
  t.end()
})

t.test('tensors of lists', (t) => {
  const cycle: Value[] = []
  cycle.push(cycle)
  t.throws(() => tensor_of_list(cycle, null, null, false), { code: 'INVALID_ARGUMENT' })
  for (const innermost of [1, []] as Value[]) {
    let lists: Value[] = [innermost, innermost]
    for (let i = 0; i < 59; i++) lists = [lists, lists]
    t.throws(() => tensor_of_list(lists, null, null, false), { code: 'OUT_OF_MEMORY' })
  }
  t.end()
})

t.test('lists of numbers that hold lists', (t) => {
  const list = (): Value[] => {
    let value: Value = [1]
    for (let i = 0; i < 60; i++) value = [value, value]
    return [value, value]
  }
  const deep = [deepList(100_000), deepList(100_000)]
  const functions = [order.list_sort, order.list_sort_float, order.list_sort_any].map((sort) => (l: Value[]) => sort(l, false))
  for (const of of [
    ...functions,
    ...[order.list_sorted, order.list_sorted_float, order.list_min_int, order.list_max_int, order.list_min_float],
    ...[order.list_sum_int, order.list_sum_float, truth.list_all, truth.list_any, list_to_tensor],
    (l: Value[]): unknown => order.list_min_of(l, l),
    (l: Value[]): unknown => list_index_float(l, 1),
    (l: Value[]): unknown => sameFloats(l, l),
  ])
    for (const value of [list(), deep]) t.throws(() => of(value), { code: 'INVALID_ARGUMENT' })
  t.end()
})
