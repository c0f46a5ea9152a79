import type { Family } from './family.js'
import { ANY, BOOL, dictOf, FLOAT, INT, listOf, optional, ROW, SCALAR, tupleOf, type Type, X } from './types.js'

/** A NamedTuple that every program may use. */
export const STATE = {
  kind: 'NamedTuple',
  name: 'State',
  fields: [
    ['first', ROW],
    ['second', ROW],
    ['count', INT],
  ],
} as const satisfies Type

const TENSORS: readonly Type[] = [X, ROW, ROW, SCALAR, ANY]
const NUMBERS: readonly Type[] = [INT, INT, FLOAT, BOOL]
const containersOf = (element: Type): Type[] => [
  listOf(element),
  listOf(element),
  dictOf(element),
  tupleOf(element, element),
  optional(element),
]
const CONTAINERS: readonly Type[] = [...[X, ROW, SCALAR, ANY].flatMap(containersOf), STATE, STATE, listOf(INT), tupleOf(ROW, INT)]
const NESTED: readonly Type[] = [
  listOf(listOf(ROW)),
  listOf(listOf(ANY)),
  dictOf(listOf(ROW)),
  listOf(dictOf(ROW)),
  listOf(tupleOf(ROW, ROW)),
  tupleOf(listOf(ROW), listOf(ROW)),
  tupleOf(tupleOf(ROW, SCALAR), ROW),
  tupleOf(listOf(ROW), INT),
  optional(listOf(ROW)),
  optional(tupleOf(ROW, ROW)),
  listOf(optional(ROW)),
  listOf(STATE),
  dictOf(tupleOf(ROW, ROW)),
  dictOf(dictOf(ROW)),
  listOf(listOf(INT)),
  tupleOf(STATE, listOf(X)),
]

const base: Family = {
  weights: { define: 4, assign: 3, setAttribute: 3, changeContainer: 1, writeTensor: 1, if: 1, for: 0.5, readAll: 1, readNumber: 0.5 },
  attributes: [...TENSORS, ...NUMBERS],
  objects: false,
  containers: false,
  aliases: 0.05,
  dtypes: 0,
  disposes: 0,
  writes: 0.05,
}

function family(changes: Partial<Family>): Family {
  return { ...base, ...changes, weights: { ...base.weights, ...changes.weights } }
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  containers: family({
    attributes: [...CONTAINERS, ...CONTAINERS, ...TENSORS, ...NUMBERS],
    weights: { setAttribute: 6, changeContainer: 4, readAll: 2 },
  }),
  nested: family({
    attributes: [...NESTED, ...NESTED, ...CONTAINERS, ...NUMBERS],
    weights: { setAttribute: 6, changeContainer: 4, readAll: 2 },
  }),
  tensors: family({
    attributes: [...TENSORS, ...TENSORS, ...NUMBERS, tupleOf(ROW, ROW)],
    weights: { writeTensor: 5, view: 2, setAttribute: 4 },
  }),
  objects: family({
    attributes: [...TENSORS, ...NUMBERS, ...CONTAINERS],
    objects: true,
    weights: { callObject: 5, setAttribute: 4, changeContainer: 2 },
  }),
  loops: family({
    attributes: [...TENSORS, ...NUMBERS, listOf(ROW), listOf(INT)],
    weights: { for: 3, while: 3, exit: 3, readAll: 2, changeContainer: 2, if: 2 },
  }),
  aliases: family({
    attributes: [...TENSORS, ...TENSORS, listOf(ROW), listOf(ANY), dictOf(ROW), tupleOf(ROW, ROW)],
    aliases: 0.35,
    containers: true,
    writes: 0.3,
    weights: { view: 4, writeTensor: 5, setAttribute: 4, changeContainer: 2 },
  }),
  indexing: family({ attributes: [...TENSORS, ...NUMBERS], weights: { index: 8, view: 1, writeTensor: 1 } }),
  positions: family({
    attributes: [X, X, ROW, ROW, SCALAR, INT],
    weights: { position: 8, writeTensor: 1, for: 1, if: 1.5, setAttribute: 2 },
  }),
  dtypes: family({ attributes: [...TENSORS, ...TENSORS, listOf(ROW)], dtypes: 0.5, weights: { convert: 8, writeTensor: 2 } }),
  branches: family({ attributes: [...TENSORS, ...NUMBERS, listOf(ROW), optional(ROW)], weights: { if: 6, readNumber: 3, exit: 1 } }),
  errors: family({
    attributes: [...CONTAINERS, ...TENSORS, ...NUMBERS],
    objects: true,
    weights: { fail: 3, setAttribute: 5, changeContainer: 3, writeTensor: 3, callObject: 1 },
  }),
  disposal: family({
    attributes: [...CONTAINERS, ...TENSORS],
    containers: true,
    disposes: 0.4,
    writes: 0.1,
    weights: { setAttribute: 5, changeContainer: 3, writeTensor: 2, view: 2 },
  }),
}
