import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { type Field, FLOAT, INT, nullable, OPTIONAL_VALUE, partsOf, tuple, VALUE, word } from './fields.js'
import { type Arg, constant, NONE, value, type ValueId } from './argument.js'

interface WeightRow {
  /** Of the constant with the numbers. */
  readonly dtype: DType
  /** Of integers, how many bits they have, and a scale for each group of a row. */
  readonly bits: 4 | 8 | null
  /** The kernel that packs the numbers, when their operator first uses them or when the model was made; null where they are read as they are. */
  readonly packer: string | null
  /** The kernel that multiplies rows by them. */
  readonly kernel: string
  /** The operator that computes a linear layer with them; null for that of floats. */
  readonly operator: string | null
}

const INTEGERS = { packer: 'weight_pack_integers', kernel: 'packed_linear', operator: 'ptlite::integer_linear' } as const

/**
 * The formats of weights of linear layers and convolutions, by the word that nodes have. A new one is a row here, a kernel that packs it and one that
 * takes it, in an operator of its own; which layers get it is for a pass to say.
 */
export const WEIGHT_FORMATS = {
  f64: { dtype: DType.float64, bits: null, packer: 'gemm_pack', kernel: 'linear', operator: null },
  f32: { dtype: DType.float32, bits: null, packer: 'gemm_pack', kernel: 'linear', operator: null },
  bf16: { dtype: DType.bfloat16, bits: null, packer: null, kernel: 'bfloat16_gemm', operator: null },
  f16: { dtype: DType.float16, bits: null, packer: null, kernel: 'linear', operator: null },
  /** Bytes with signs. */
  i8: { dtype: DType.int8, bits: 8, ...INTEGERS },
  /** Bytes from -8 to 7. */
  i4: { dtype: DType.int8, bits: 4, ...INTEGERS },
  /** Two numbers of 4 bits a byte, as PyTorch packs them, with pairs of a scale and an offset. */
  pairs: { dtype: DType.uint8, bits: 4, ...INTEGERS },
} as const satisfies Readonly<Record<string, WeightRow>>

export type WeightFormat = keyof typeof WEIGHT_FORMATS

const FORMATS: Readonly<Record<WeightFormat, WeightRow>> = WEIGHT_FORMATS

const ROUNDINGS = ['affine', 'symmetric', 'tokens', 'affine_bfloat16', 'symmetric_bfloat16', 'symmetric_widened'] as const

/** How rows that integers multiply become bytes, each with one scale: kinds of the kernel's RowBytes. */
export interface RowRounding {
  readonly kind: (typeof ROUNDINGS)[number]
  /** The least byte. */
  readonly least: number
  /** The least scale. */
  readonly eps: number
}

/** The weight of a linear layer or the filter of a convolution. */
export interface PackedWeight {
  readonly values: ValueId
  readonly format: WeightFormat
  /** Of formats with integers. */
  readonly scales: ValueId | null
  /** Zero points of groups; null for 0. */
  readonly zeros: ValueId | null
  /** Numbers of a row that share a scale; 0 where whole rows do. */
  readonly group: number
  /** Null where rows stay floats. */
  readonly rows: RowRounding | null
}

/** The format of floats of a dtype; undefined for dtypes that are none, integers of a format among them: these have scales. */
export function floatFormat(dtype: DType): WeightFormat | undefined {
  return (Object.keys(FORMATS) as WeightFormat[]).find((name) => FORMATS[name].dtype === dtype && FORMATS[name].bits === null)
}

/** A weight of floats. */
export const floatWeight = (values: ValueId, format: WeightFormat = 'f32'): PackedWeight => ({
  values,
  format,
  scales: null,
  zeros: null,
  group: 0,
  rows: null,
})

/** The operator that multiplies rows by a weight of integers, and what it takes between input and bias; null where the operator of floats takes it. */
export function integerProduct({ values, format, scales, zeros, group, rows }: PackedWeight): { op: string; args: readonly Arg[] } | null {
  const { operator: op, bits } = FORMATS[format]
  if (op === null) return null
  const rounding = [rows === null ? NONE : constant(rows.kind), constant(rows?.least ?? 0), constant(new Float(rows?.eps ?? 0))]
  return {
    op,
    args: [value(values), OPTIONAL_VALUE.toArg(scales), OPTIONAL_VALUE.toArg(zeros), constant(bits!), constant(group), ...rounding],
  }
}

const FORMAT = word(...(Object.keys(FORMATS) as WeightFormat[]))

const ROUNDING = word(...ROUNDINGS)

const ROWS: Field<RowRounding> = {
  toArg: ({ kind, least, eps }) => tuple(ROUNDING.toArg(kind), INT.toArg(least), FLOAT.toArg(eps)),
  fromArg: (arg) => {
    const [kind, least, eps] = partsOf(arg, 3, 'how rows are rounded, their least byte and least scale') as [Arg, Arg, Arg]
    return { kind: ROUNDING.fromArg(kind), least: INT.fromArg(least), eps: FLOAT.fromArg(eps) }
  },
  isNone: () => false,
}
const OPTIONAL_ROWS = nullable(ROWS)

/** A weight of float32 is its values alone, others also their format, scales, zero points, groups and how rows are rounded. */
export const WEIGHT: Field<PackedWeight> = {
  toArg: ({ values, format, scales, zeros, group, rows }) =>
    format === 'f32'
      ? value(values)
      : tuple(
          value(values),
          FORMAT.toArg(format),
          OPTIONAL_VALUE.toArg(scales),
          OPTIONAL_VALUE.toArg(zeros),
          INT.toArg(group),
          OPTIONAL_ROWS.toArg(rows),
        ),
  fromArg: (arg) => {
    if (arg.kind === 'value') return floatWeight(arg.id)
    const parts = partsOf(arg, 6, 'a weight, its format, scales, zero points, the size of groups and how rows are rounded')
    const [values, format, scales, zeros, group, rows] = parts as [Arg, Arg, Arg, Arg, Arg, Arg]
    return {
      values: VALUE.fromArg(values),
      format: FORMAT.fromArg(format),
      scales: OPTIONAL_VALUE.fromArg(scales),
      zeros: OPTIONAL_VALUE.fromArg(zeros),
      group: INT.fromArg(group),
      rows: OPTIONAL_ROWS.fromArg(rows),
    }
  },
  isNone: () => false,
}
