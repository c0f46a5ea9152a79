import { ScaleFormat, WeightFormat, ZeroPoints } from '../../runtime/native/generated/kernels.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { packedBytes } from '../../runtime/shapes/packed-weight.js'
import { numberToBfloat16, numberToHalf } from '../../runtime/tensor/half.js'

/** How a weight of integers is packed. */
export interface Layout {
  readonly name: string
  readonly format: number
  readonly group: number
  readonly scale: number
  readonly zero: number
}

/** All kinds of scales and zero points, of both formats, by rows and by groups. */
export const LAYOUTS: readonly Layout[] = (['int8', 'int4'] as const).flatMap((format) =>
  [0, 32, 64].flatMap((group) =>
    (['bfloat16', 'float16', 'float32'] as const).flatMap((scale) =>
      (['none', 'integers', 'offsets'] as const).map((zero) => ({
        name: `${format}, groups of ${group}, ${scale}, zero points: ${zero}`,
        format: WeightFormat[format],
        group,
        scale: ScaleFormat[scale],
        zero: ZeroPoints[zero],
      })),
    ),
  ),
)

/** What weight_pack_integers takes, and the numbers that these are. */
export interface IntegerWeight {
  readonly n: number
  readonly k: number
  readonly integers: Int8Array
  readonly scales: Uint8Array
  readonly zeros: Uint8Array
  readonly numbers: Float32Array
}

/** A weight [n, k] by `integer`, which gives integers between two; scales and offsets are such as all formats have. */
export function integerWeight(layout: Layout, n: number, k: number, integer: (low: number, high: number) => number): IntegerWeight {
  const { format, group, scale, zero } = layout
  const [low, high] = format === WeightFormat.int8 ? [-128, 127] : [-8, 7]
  const groups = group === 0 ? 1 : Math.ceil(k / group)
  const fill = (count: number, low: number, high: number): number[] => Array.from({ length: count }, () => integer(low, high))
  const integers = Int8Array.from(fill(n * k, low, high))
  const scales = fill(n * groups, 4, 7).map((x) => x / (format === WeightFormat.int8 ? 4096 : 256))
  const zeros = fill(n * groups, ...((zero === ZeroPoints.offsets ? [-8, 8] : [low, high]) as [number, number])).map((x) =>
    zero === ZeroPoints.offsets ? x / 16 : x,
  )
  const numbers = Float32Array.from({ length: n * k }, (_, i) => {
    const at = Math.floor(i / k) * groups + (group === 0 ? 0 : Math.floor((i % k) / group))
    if (zero === ZeroPoints.none) return integers[i]! * scales[at]!
    return zero === ZeroPoints.integers ? (integers[i]! - zeros[at]!) * scales[at]! : integers[i]! * scales[at]! + zeros[at]!
  })
  const none = new Uint8Array(0)
  const stored =
    zero === ZeroPoints.none ? none : zero === ZeroPoints.integers ? new Uint8Array(Int8Array.from(zeros).buffer) : inFormat(zeros, scale)
  return { n, k, integers, scales: inFormat(scales, scale), zeros: stored, numbers }
}

function inFormat(values: readonly number[], scale: number): Uint8Array {
  if (scale === ScaleFormat.float32) return new Uint8Array(Float32Array.from(values).buffer)
  return new Uint8Array(Uint16Array.from(values, scale === ScaleFormat.bfloat16 ? numberToBfloat16 : numberToHalf).buffer)
}

/** Packs a weight by the kernels that `launch` starts, in memory that `place` copies to and `take` gives; the address. */
export function packIntegers(
  { format, group, scale, zero }: Layout,
  { n, k, integers, scales, zeros }: IntegerWeight,
  memory: { readonly place: (data: Uint8Array) => number; readonly take: (bytes: number) => number },
  launch: (call: () => void) => void,
): number {
  const dst = memory.take(packedBytes(format, n, k, group, scale, zero))
  const [src, factors] = [memory.place(new Uint8Array(integers.buffer)), memory.place(scales)]
  const points = zero === ZeroPoints.none ? 0 : memory.place(zeros)
  launch(() => kernels.weight_pack_integers({ format, n, k, group, scale, zero, src, scales: factors, zeros: points, dst }))
  return dst
}
