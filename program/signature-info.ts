/** A size of a tensor: a number, or an expression of symbols that holds for every call, such as `s0` or `2*s0`. */
export interface Dimension {
  readonly text: string
  /** What it may be; both ends are included. */
  readonly min: number
  /** null where there is no limit. */
  readonly max: number | null
}

/** A value that a program takes or gives, as its file describes it. */
export interface ArgumentInfo {
  /** `x`, or its place in a structure: `batch['ids']`, `states[0]`. */
  readonly name: string
  readonly kind: 'Tensor' | 'int' | 'float' | 'bool' | 'str' | 'None'
  /** Of tensors. */
  readonly dtype?: string
  readonly shape?: readonly Dimension[]
  /** The only value that the program was exported for. */
  readonly constant?: number | bigint | boolean | string | null
}
