/** What work costs, in nanoseconds; what matters is how the numbers compare. */
export interface Costs {
  /** Saved per multiply-add over blocks of channels, against an implicit GEMM over planes. */
  readonly macSaved: number
  /** Lost of that where the last block of outputs doubles their number with padding. */
  readonly macPadded: number
  /** Per element of the matrix that an implicit GEMM packs. */
  readonly packedElement: number
  /** Per element that is brought from one layout to another. */
  readonly reorderedElement: number
  readonly directMac: number
  readonly winogradMac: number
  /** Per element of Winograd's transforms. */
  readonly transformedElement: number
  /** Per byte of filters that comes from memory. */
  readonly byteRead: number
  /** Of a GEMM of the few channels of each group; over blocks, dense; and where lanes read their own groups. */
  readonly groupedMac: number
  readonly spanMac: number
  readonly laneMac: number
  /** Saved by a 3x3 depthwise convolution over blocks: per element of the output, and per row and channel. */
  readonly depthwiseElement: number
  readonly depthwiseRow: number
}

/** Measured on one core of a 2.5 GHz Cascade Lake with AVX-512. */
export const CASCADE_LAKE: Costs = {
  macSaved: 0.0046,
  macPadded: 0.02,
  packedElement: 0.1,
  reorderedElement: 0.32,
  directMac: 0.0155,
  winogradMac: 0.018,
  transformedElement: 0.2,
  byteRead: 0.06,
  groupedMac: 0.04,
  spanMac: 0.021,
  laneMac: 0.028,
  depthwiseElement: 0.2,
  depthwiseRow: 15,
}

/** Of a multiply-add, or of what is made of them. */
const ARITHMETIC = [
  'macSaved',
  'macPadded',
  'directMac',
  'winogradMac',
  'transformedElement',
  'groupedMac',
  'spanMac',
  'laneMac',
  'depthwiseElement',
] as const satisfies readonly (keyof Costs)[]

/**
 * Costs on a processor that none were measured on, with so many floats in a vector: arithmetic takes as many times longer as vectors are shorter, and
 * what goes by memory as long.
 */
export function costsOfLanes(lanes: number): Costs {
  const times = 16 / lanes
  return { ...CASCADE_LAKE, ...Object.fromEntries(ARITHMETIC.map((name) => [name, CASCADE_LAKE[name] * times])) }
}
