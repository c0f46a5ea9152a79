import { callOperator, type Input, type Tensor, tensor } from '../../../src/index.js'
import type { DTypeName } from '../../../src/index.js'
import { Random } from '../fixtures/random.js'

/** Calls an ATen operator that gives one tensor. */
export function aten(name: string, ...args: readonly Input[]): Tensor {
  return callOperator(`aten::${name}`, args) as Tensor
}

/** Numbers around the registers' lengths, where tails begin and end. */
const LENGTHS = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 67, 130]

export interface Options {
  readonly dtype?: DTypeName
  readonly low?: number
  readonly high?: number
}

/** Random arguments; the same for the same seed at every level. */
export class Draw {
  private readonly random: Random

  constructor(seed: number) {
    this.random = new Random(seed)
  }

  integer(low: number, high: number): number {
    return this.random.integer(low, high)
  }

  /** One of `items`. */
  of<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)]!
  }

  length(): number {
    return this.of(LENGTHS)
  }

  /** Up to three dimensions, one of them long. */
  shape(): number[] {
    const shape = Array.from({ length: this.integer(1, 3) }, () => this.integer(1, 4))
    shape[this.integer(0, shape.length - 1)] = this.length()
    return shape
  }

  /** Numbers from `low` to `high`, contiguous. */
  dense(shape: readonly number[], { dtype = 'float32', low = -1, high = 1 }: Options = {}): Tensor {
    const n = shape.reduce((a, b) => a * b, 1)
    const whole = !dtype.includes('float')
    const data = Float64Array.from({ length: n }, () =>
      whole ? this.integer(low, high) : low + ((this.random.next() + 1) / 2) * (high - low),
    )
    return aten('to.dtype', tensor(data, [...shape]), dtype)
  }

  /** Like dense, but of any order of dimensions, with gaps between elements and starting anywhere; the storage ends with the last element. */
  tensor(shape: readonly number[], options: Options = {}): Tensor {
    const order = shape.map((_, dim) => dim)
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.integer(0, i)
      ;[order[i], order[j]] = [order[j]!, order[i]!]
    }
    if (this.integer(0, 1) === 0) order.sort((a, b) => b - a)
    const offset = this.integer(0, 7)
    const strides = shape.map(() => 0)
    let room = this.of([1, 1, 1, 2])
    for (const dim of order) {
      strides[dim] = room
      room *= shape[dim]! + this.of([0, 0, 1])
    }
    const extent = shape.reduce((sum, n, dim) => sum + (n - 1) * strides[dim]!, offset + 1)
    return aten('as_strided', this.dense([extent], options), [...shape], strides, offset)
  }
}
