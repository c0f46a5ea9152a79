import type { DTypeName, Input, Quant } from '../../../src/index.js'
import { callOperator, Complex, complex, float, int, Tensor, tuple } from '../../../src/index.js'
import { PtliteError } from '../../../runtime/error.js'
import { dtypeFromName, isComplex, isQuantized } from '../../../runtime/tensor/dtype.js'
import { extentOf } from '../../../runtime/tensor/shape.js'
import { contiguousStrides } from '../../../runtime/tensor/shape.js'
import { Dice } from './dice.js'

/** Arguments as JSON, of which a call can be made again and be made simpler. */
export type Spec =
  | null
  | boolean
  | string
  | { readonly int: number | string }
  | { readonly float: number | string }
  | { readonly complex: readonly [number, number] }
  | { readonly list: readonly Spec[] }
  | { readonly tuple: readonly Spec[] }
  | { readonly dict: readonly (readonly [Spec, Spec])[] }
  | { readonly generator: number }
  | TensorSpec
  /** A tensor made before, counted over the whole call; with a shape, another view on its storage. */
  | { readonly same: number; readonly shape?: readonly number[]; readonly strides?: readonly number[]; readonly offset?: number }
  /** The result of another operator. */
  | { readonly call: string; readonly args: readonly Spec[] }

export interface TensorSpec {
  readonly tensor: DTypeName
  readonly shape: readonly number[]
  readonly strides?: readonly number[]
  readonly offset?: number
  /** Elements of the storage, as many as the view needs without. */
  readonly elements?: number
  readonly fill?: Fill
  readonly quant?: Quant
}

/** Integers from a low to a high one; numbers in -1..1 or 0..1 by a seed; extreme numbers; bytes of any value. */
export type Fill = readonly ['range', number, number, number?] | readonly ['unit' | 'wild' | 'bytes' | 'zero', number?]

export interface CallSpec {
  readonly op: string
  readonly args: readonly Spec[]
}

const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity, nan: NaN }
const ARRAYS = {
  uint8: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, float16: Uint16Array, float32: Float32Array,
  float64: Float64Array, complex64: Float32Array, complex128: Float64Array, bool: Uint8Array, qint8: Int8Array, quint8: Uint8Array,
  qint32: Int32Array, bfloat16: Uint16Array, quint4x2: Uint8Array,
  float8_e5m2: Uint8Array, float8_e4m3fn: Uint8Array, float8_e5m2fnuz: Uint8Array, float8_e4m3fnuz: Uint8Array,
  uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
} as const satisfies Record<DTypeName, unknown> // prettier-ignore

const WILD_FLOATS = [NaN, Infinity, -Infinity, -0, 1e38, -1e38, 1e308, 5e-324, 2 ** 31, 2 ** 53, -1, 0.5]
const WILD_INTS = [0n, 1n, -1n, 2n ** 31n, -(2n ** 31n), 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n), 255n, -128n, 7n]

function fillArray(array: InstanceType<(typeof ARRAYS)[DTypeName]>, dtype: DTypeName, fill: Fill): void {
  const [kind] = fill
  const dice = new Dice(kind === 'range' ? (fill[3] ?? 1) : (fill[1] ?? 1))
  if (kind === 'zero') return
  if (kind === 'bytes') {
    const bytes = new Uint8Array(array.buffer)
    for (let i = 0; i < bytes.length; i++) bytes[i] = dice.below(256)
    return
  }
  for (let i = 0; i < array.length; i++) {
    if (dtype === 'bool') array[i] = dice.below(2)
    // 0x3800 to 0x3c00 are numbers of about 1 as float16 and small ones as bfloat16; wild halves are any bits
    else if (dtype.endsWith('float16')) array[i] = kind === 'wild' ? dice.below(65536) : (dice.below(2) << 15) | (0x3800 + dice.below(1024))
    else if (array instanceof Float32Array || array instanceof Float64Array) {
      array[i] =
        kind === 'wild' ? dice.pick(WILD_FLOATS) : kind === 'range' ? fill[1] + dice.below(fill[2] - fill[1] + 1) : dice.next() * 2 - 1
    } else {
      const integer = kind === 'wild' ? dice.pick(WILD_INTS) : kind === 'range' ? BigInt(Math.floor(fill[1] + dice.next() * (fill[2] - fill[1] + 1))) : BigInt(dice.below(3)) // prettier-ignore
      if (array instanceof BigInt64Array || array instanceof BigUint64Array) array[i] = integer
      else array[i] = Number(BigInt.asIntN(32, integer))
    }
  }
}

export const DEFAULT_QUANT = { scale: 0.05, zeroPoint: 3 } as const

/** What a storage needs of a view. */
export function elementsOf({ shape, strides, offset = 0 }: Pick<TensorSpec, 'shape' | 'strides' | 'offset'>): number {
  const extent = extentOf(shape, strides ?? contiguousStrides(shape))
  return extent === 0 ? 0 : offset + extent
}

/** Larger tensors are views of fewer elements. */
const MAX_ELEMENTS = 2 ** 26

function tensorOf(spec: TensorSpec): Tensor {
  const type = dtypeFromName(spec.tensor)
  const { strides, offset } = spec
  const parts = isComplex(type) ? 2 : 1
  const elements = spec.elements ?? elementsOf(spec)
  if (elements > MAX_ELEMENTS) throw new PtliteError('OUT_OF_MEMORY', `no test makes a tensor of ${elements} elements`)
  const array = new ARRAYS[spec.tensor](parts * elements)
  fillArray(array, spec.tensor, spec.fill ?? ['unit'])
  const quant = isQuantized(type) ? (spec.quant ?? DEFAULT_QUANT) : null
  return Tensor.fromStorage(array, { dtype: spec.tensor, shape: [...spec.shape], strides, offset, quant })
}

/** The arguments of a call, with its tensors in the order in which they stand in it. */
export function makeArguments(args: readonly Spec[]): { inputs: Input[]; tensors: Tensor[] } {
  const tensors: Tensor[] = []
  const make = (spec: Spec): Input => {
    if (spec === null || typeof spec !== 'object') return spec
    if ('int' in spec) return int(typeof spec.int === 'string' ? BigInt(spec.int) : spec.int)
    if ('float' in spec) return float(typeof spec.float === 'string' ? SPECIAL[spec.float]! : spec.float)
    if ('complex' in spec) return complex(...spec.complex)
    if ('list' in spec) return spec.list.map(make)
    if ('tuple' in spec) return tuple(...spec.tuple.map(make))
    if ('dict' in spec) return new Map(spec.dict.map(([key, value]) => [make(key) as string, make(value)]))
    if ('generator' in spec) return callOperator('aten::Generator', [null, int(spec.generator)]) as Input
    if ('call' in spec) return callOperator(spec.call, spec.args.map(make)) as Input
    if ('tensor' in spec) {
      const t = tensorOf(spec)
      tensors.push(t)
      return t
    }
    const base = tensors[spec.same]
    if (base === undefined) return null
    if (spec.shape === undefined) return base
    const list = (items: readonly number[]): Input[] => items.map((x) => int(x))
    const view = callOperator('aten::as_strided', [base, list(spec.shape), list(spec.strides!), int(spec.offset ?? 0)]) as Tensor
    tensors.push(view)
    return view
  }
  return { inputs: args.map(make), tensors }
}

export { Complex }
