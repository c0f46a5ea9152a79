/**
 * The fields of a frame, as the expressions beside the kernels' declarations (codegen/kernels/*.yaml) see them. Sizes and counts are whole
 * numbers of at least 0: whatever meets another number throws, as no kernel is made for it.
 */
export interface FrameFields {
  /** A number of the frame. */
  n(field: string): number
  /** An element of an array. */
  at(field: string, index: number): number
  /** 1 where an address is not 0. */
  isSet(field: string): number
  /** Bytes of an element of this dtype (c10::ScalarType). */
  size(dtype: number): number
  /** 1 where this is a dtype with arithmetic: integers, floats, bool. */
  arithmetic(dtype: number): number
  /** 1 for float16, bfloat16, float32 and float64. */
  floating(dtype: number): number
  /** 1 for float32 and float64. */
  real(dtype: number): number
  /** 1 for int32 and int64. */
  index(dtype: number): number
  /** 1 for qint8, quint8 and qint32. */
  quantized(dtype: number): number
  /** 1 where an element of so many bytes can be moved as an integer: 1, 2, 4 and 8. */
  item(bytes: number): number
  min(a: number, b: number): number
  max(a: number, b: number): number
  ceil(x: number): number
  /** Of all elements of an array. */
  product(field: string): number
  /** Of the first `count` elements. */
  product_of(count: number, field: string): number
  /** Elements from the first to the last of nested loops, given as count, stride, count, stride, ...; 0 where a count is 0. */
  span(...countsAndStrides: number[]): number
  /** The furthest that `count` indices below `limits` lead, with `steps` elements for 1. */
  span_at(count: number, limits: string, steps: string): number
  /** Elements that two nested walks reach, `a` and `b` by themselves. */
  both(a: number, b: number): number
  /** Elements from the first to the last that a walk over `dims` dimensions visits, both counted; 0 where a size is 0. */
  walk(dims: number, sizes: string, strides: string): number
  /** walk with strides from position `first` of their array on. */
  walk_from(dims: number, sizes: string, strides: string, first: number): number
  /** `n` dense elements where `dims` is 0, else walk, backwards too; the product of the sizes is then `n`, and not 0. */
  elements(dims: number, n: number, sizes: string, strides: string): number
  /** 1 where a walk leads to no element twice, of negative strides too. */
  distinct(dims: number, sizes: string, strides: string): number
  /** 1 where a window has `out` positions, the last of which may hang over the padded end. */
  window(input: number, kernel: number, stride: number, padding: number, dilation: number, out: number): number
  /** window for each dimension. */
  windows(input: string, kernel: string, stride: string, padding: string, dilation: string, out: string): number
  /** 1 where padding by this mode reads inside of the input. */
  pads(mode: number, dims: number, inSizes: string, outSizes: string, before: string): number
  /** 1 where a filter of `depth` channels for each of `blocks` blocks of outputs is one for these groups, as blocked convolutions have them. */
  grouped(channels: number, groups: number, outputs: number, blocks: number, depth: number): number
  /** 1 where `count` pieces of a row lie inside of it. */
  parts(count: number, start: string, length: string, row: number): number
  /** 1 where the operands of each of `steps` steps are inputs, results of steps before, or numbers (-1, -2). */
  operands(field: string, steps: number, inputs: number): number
  /** Bytes of an operand that gemm_pack has packed for this machine. */
  pack(dtype: number, side: number, groups: number, outer: number, k: number): number
  /** Bytes of weights that quantized_gemm_pack has packed for this machine. */
  quantized_pack(n: number, k: number): number
  /** Bytes of weights that weight_pack has packed. */
  packed_weight(format: number, n: number, k: number, group: number, scale: number, zero: number): number
}

/** What is declared about a kernel's use of memory and its work. */
export interface KernelExtents {
  /** Fingerprint of the kernel's declaration. */
  readonly hash: number
  /** Bytes from each address on, by field (`?` at the end: may be 0); `each` is the position in an array of addresses. `host` is JavaScript memory. */
  readonly reach: Readonly<Record<string, (f: FrameFields, each: number) => number>>
  /** Fields that hold a value of an enumeration, with the number of its values. */
  readonly enums?: Readonly<Record<string, number>>
  /** Conditions with their text; 0 is false. */
  readonly require?: readonly (readonly [string, (f: FrameFields) => number])[]
  /** Operations of one call. */
  readonly flops?: (f: FrameFields) => number
}
