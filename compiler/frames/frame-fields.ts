import type { FrameFields } from '../../runtime/native/extents.js'
import { groupedFilter } from '../../runtime/shapes/blocks.js'
import { packedBytes } from '../../runtime/shapes/packed-weight.js'
import { PtliteError } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { dtypeFromCode, itemSize } from '../../runtime/tensor/dtype.js'
import type { CapturedFrame } from '../capture/captured.js'
import { fieldOf, type FrameMember } from '../capture/frame-layout.js'

/** A frame holds a number that no kernel is made for. */
export class FrameError extends Error {}

/** Strides and dilations up to this are allowed for however small an input. */
const LEAST_STEP = 16
const MAX_EMPTY_TURNS = 2 ** 24
/** Steps of a walk: with strides of 0 it needs no memory. */
const MAX_TURNS = 2 ** 32
/** Numbers of dtypes with arithmetic (c10::ScalarType). */
const ARITHMETIC: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7, 11, 15])
/** Beyond the size of an input: kernels copy rows with their padding. */
const MAX_PADDING = 2 ** 16
/** Blocks of outputs of a grouped convolution. */
const MAX_BLOCKS = 2 ** 16

/** Bytes that a kernel says its packed operand has. */
function packedSize(sizes: readonly number[], ask: () => number): number {
  const elements = sizes.reduce((product, size) => product * Math.max(size, 1), 1)
  if (sizes.every((size) => Number.isInteger(size) && size < 2 ** 31) && elements < 2 ** 48) {
    try {
      return ask()
    } catch (error) {
      if (!(error instanceof PtliteError)) throw error
    }
  }
  throw new FrameError('its packed operand has no size')
}

/** Reads the fields of one captured frame for the expressions of its kernel's declaration. */
export class CapturedFields implements FrameFields {
  private least = 0
  private below: { readonly elements: number; readonly of: number } | null = null

  constructor(private readonly frame: CapturedFrame) {}

  /** The part of the last extent that lies in front of its address, since `elements` walked down dimensions. Asking forgets it. */
  takeBelow(): number {
    const { below } = this
    this.below = null
    return below === null ? 0 : below.elements / below.of
  }

  n(field: string): number {
    return this.count(field, 0)
  }

  at(field: string, index: number): number {
    return this.count(field, index)
  }

  isSet(field: string): number {
    const { offset } = this.member(field, 0)
    return this.frame.pointers.some((p) => p.at === offset) ? 1 : 0
  }

  size(dtype: number): number {
    try {
      return itemSize(dtypeFromCode(dtype))
    } catch {
      throw new FrameError(`it has elements of the unknown type ${dtype}`)
    }
  }

  arithmetic(dtype: number): number {
    return ARITHMETIC.has(dtype) ? 1 : 0
  }

  floating(dtype: number): number {
    return dtype === 5 || dtype === 15 ? 1 : this.real(dtype)
  }

  real(dtype: number): number {
    return dtype === 6 || dtype === 7 ? 1 : 0
  }

  index(dtype: number): number {
    return dtype === 3 || dtype === 4 ? 1 : 0
  }

  quantized(dtype: number): number {
    return dtype >= 12 && dtype <= 14 ? 1 : 0
  }

  item(bytes: number): number {
    return bytes === 1 || bytes === 2 || bytes === 4 || bytes === 8 ? 1 : 0
  }

  min(a: number, b: number): number {
    return Math.min(a, b)
  }

  max(a: number, b: number): number {
    return Math.max(a, b)
  }

  ceil(x: number): number {
    return Math.ceil(x)
  }

  product(field: string): number {
    return this.product_of(this.member(field, 0).count, field)
  }

  product_of(count: number, field: string): number {
    this.room(count, field)
    let product = 1
    for (let i = 0; i < count; i++) product *= this.count(field, i)
    return product
  }

  span(...pairs: number[]): number {
    let last = 0
    for (let i = 0; i < pairs.length; i += 2) {
      if (pairs[i]! <= 0) return 0
      last += (pairs[i]! - 1) * pairs[i + 1]!
    }
    return last + 1
  }

  span_at(count: number, limits: string, steps: string): number {
    this.room(count, limits)
    let last = 0
    for (let i = 0; i < count; i++) last += Math.max(this.count(limits, i) - 1, 0) * this.count(steps, i)
    return last
  }

  both(a: number, b: number): number {
    return a === 0 || b === 0 ? 0 : a + b - 1
  }

  walk(dims: number, sizes: string, strides: string, strideOf?: (index: number) => number): number {
    return this.walk_from(dims, sizes, strides, 0, strideOf)
  }

  walk_from(dims: number, sizes: string, strides: string, first: number, strideOf = (index: number) => this.count(strides, index)): number {
    this.room(dims, sizes)
    this.room(first + dims, strides)
    let last = 0
    let elements = 1
    let isEmpty = false
    for (let i = 0; i < dims; i++) {
      const size = this.count(sizes, i)
      isEmpty ||= size === 0
      elements *= Math.max(size, 1)
      last += Math.max(size - 1, 0) * strideOf(first + i)
    }
    // loops around an empty one still count
    if (elements > (isEmpty ? MAX_EMPTY_TURNS : MAX_TURNS)) throw new FrameError(`${sizes} is too large`)
    return isEmpty ? 0 : last + 1
  }

  elements(dims: number, n: number, sizes: string, strides: string): number {
    if (dims === 0) return n
    // loops over dimensions run at least once, and some kernels go by the number of all elements
    if (n === 0 || this.product_of(dims, sizes) !== n) throw new FrameError(`it has ${n} elements, which are not those of ${sizes}`)
    const of = this.walk(dims, sizes, strides, (stride) => Math.abs(this.integer(strides, stride)))
    let elements = 0
    for (let i = 0; i < dims; i++) elements += (this.count(sizes, i) - 1) * Math.max(-this.integer(strides, i), 0)
    if (of > 0 && elements > 0) this.below = { elements, of }
    return of
  }

  distinct(dims: number, sizes: string, strides: string): number {
    const span = this.walk(dims, sizes, strides, (stride) => Math.abs(this.integer(strides, stride)))
    return this.product_of(dims, sizes) <= span ? 1 : 0
  }

  window(input: number, kernel: number, stride: number, padding: number, dilation: number, out: number): number {
    const padded = input + 2 * padding
    const most = Math.max(padded, LEAST_STEP)
    if (kernel < 1 || stride < 1 || dilation < 1 || stride > most || dilation > most || padding > input + MAX_PADDING) return 0
    const room = padded - dilation * (kernel - 1) - 1
    return room >= 0 && out >= Math.floor(room / stride) && out <= Math.ceil(room / stride) + 1 ? 1 : 0
  }

  windows(input: string, kernel: string, stride: string, padding: string, dilation: string, out: string): number {
    for (let i = 0; i < this.member(input, 0).count; i++) {
      const [size, window, step, pad] = [this.count(input, i), this.count(kernel, i), this.count(stride, i), this.count(padding, i)]
      if (this.window(size, window, step, pad, this.count(dilation, i), this.count(out, i)) === 0) return 0
    }
    return 1
  }

  pads(mode: number, dims: number, inSizes: string, outSizes: string, before: string): number {
    const { reflect, replicate, circular } = kernels.PadMode
    for (let i = 0; i < dims; i++) {
      const size = this.count(inSizes, i)
      const low = -this.integer(before, i)
      const high = low + this.count(outSizes, i) - 1
      if (mode === reflect && (low <= -size || high > 2 * (size - 1))) return 0
      if (mode === replicate && size === 0) return 0
      if (mode === circular && (low < -size || high >= 2 * size)) return 0
    }
    return 1
  }

  grouped(channels: number, groups: number, outputs: number, blocks: number, depth: number): number {
    if (groups === 1) return depth === channels ? 1 : 0
    if (groups < 1 || outputs < 1 || channels < groups || channels % groups !== 0) return 0
    if (blocks > MAX_BLOCKS || Math.ceil((groups * outputs) / 16) !== blocks) return 0
    return groupedFilter({ count: groups, inputs: channels / groups, outputs }).depth === depth ? 1 : 0
  }

  parts(count: number, start: string, length: string, row: number): number {
    for (let i = 0; i < count; i++) if (this.count(start, i) + this.count(length, i) > row) return 0
    return 1
  }

  operands(field: string, steps: number, inputs: number): number {
    for (let i = 0; i < steps; i++) {
      const operand = this.signed(field, i)
      if (operand < -2 || operand >= inputs + i) return 0
    }
    return 1
  }

  pack(dtype: number, side: number, groups: number, outer: number, k: number): number {
    return packedSize([groups, outer, k], () => kernels.gemm_pack_size({ dtype, side, groups, outer, k }))
  }

  quantized_pack(n: number, k: number): number {
    return packedSize([n, k], () => kernels.quantized_gemm_pack_size({ n, k }))
  }

  packed_weight(format: number, n: number, k: number, group: number, scale: number, zero: number): number {
    return packedBytes(format, n, k, group, scale, zero)
  }

  /** Takes every count of 0 for 1 while `run` runs: what an empty extent would be if it were not. */
  filled<T>(run: () => T): T {
    this.least = 1
    try {
      return run()
    } finally {
      this.least = 0
    }
  }

  /** A count, size or stride. */
  private count(field: string, index: number): number {
    const value = this.integer(field, index)
    if (value < 0) throw new FrameError(`${field} is ${value}`)
    return Math.max(value, this.least)
  }

  private integer(field: string, index: number): number {
    const value = this.signed(field, index)
    if (!Number.isSafeInteger(value)) throw new FrameError(`${field} is ${value}`)
    return value
  }

  private signed(field: string, index: number): number {
    this.member(field, index)
    return fieldOf(this.frame.layout, this.frame.bytes, field, index)
  }

  /** A count of dimensions or operands beyond an array would lead its kernel out of the frame, whether or not they are looked at here. */
  private room(count: number, field: string): void {
    if (count > 0) this.member(field, count - 1)
  }

  private member(field: string, index: number): FrameMember {
    const member = this.frame.layout.fields.get(field)!
    if (!(index < member.count)) throw new FrameError(`it counts ${index + 1} elements of ${field}, which has ${member.count}`)
    return member
  }
}
