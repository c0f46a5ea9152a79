/**
 * A view as a plain list: for each element, row by row, its place in the base. Every operation is written from its
 * definition on index tuples, without strides.
 */
export interface Model {
  readonly shape: readonly number[]
  readonly places: readonly number[]
}

export function whole(shape: readonly number[]): Model {
  return { shape, places: Array.from({ length: count(shape) }, (_, i) => i) }
}

export function count(shape: readonly number[]): number {
  return shape.reduce((n, size) => n * size, 1)
}

/** The model of `shape` whose element at an index is the one of `from` at `source(index)`. */
export function build(from: Model, shape: readonly number[], source: (index: readonly number[]) => readonly number[]): Model {
  const places: number[] = []
  for (const index of indices(shape)) {
    const at = source(index).reduce((flat, i, d) => flat * from.shape[d]! + i, 0)
    places.push(from.places[at]!)
  }
  return { shape, places }
}

/** All index tuples of a shape, row by row. */
export function* indices(shape: readonly number[]): Generator<number[]> {
  const total = count(shape)
  for (let flat = 0; flat < total; flat++) {
    const index = new Array<number>(shape.length)
    let rest = flat
    for (let d = shape.length - 1; d >= 0; d--) {
      index[d] = rest % shape[d]!
      rest = Math.floor(rest / shape[d]!)
    }
    yield index
  }
}

/** Random numbers that are the same in every run. */
export class Random {
  constructor(private state: number) {}

  /** An integer in 0..limit-1. */
  below(limit: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return Math.floor((this.state / 2 ** 32) * limit)
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  shuffled<T>(list: readonly T[]): T[] {
    const rest = list.slice()
    return list.map(() => rest.splice(this.below(rest.length), 1)[0]!)
  }
}
