import { DType } from '../../runtime/tensor/dtype.js'
import { type Field, INT, OPTIONAL_VALUE, partsOf, tuple, VALUE, word } from './fields.js'
import { type Arg, constant, value, type ValueId } from './argument.js'

interface WeightRow {
  /** Of the constant with the numbers. */
  readonly dtype: DType
  /** What one scale is for, where numbers are integers. */
  readonly scales: 'none' | 'rows' | 'groups'
  /** The kernel that packs the numbers, when their operator first uses them or when the model was made; null where they are read as they are. */
  readonly packer: string | null
  /** The kernel that multiplies rows by them. */
  readonly kernel: string
  /** The operator that computes a linear layer with them; null for the one of dense layers, which takes a bias, bounds and steps. */
  readonly operator: string | null
}

/**
 * The formats of weights of linear layers and convolutions, by the word that nodes have. A new one is a row here, a kernel that packs it and one that
 * takes it, in an operator of its own; which layers get it is for a pass to say.
 */
export const WEIGHT_FORMATS = {
  f64: { dtype: DType.float64, scales: 'none', packer: 'gemm_pack', kernel: 'linear', operator: null },
  f32: { dtype: DType.float32, scales: 'none', packer: 'gemm_pack', kernel: 'linear', operator: null },
  bf16: { dtype: DType.bfloat16, scales: 'none', packer: null, kernel: 'bfloat16_gemm', operator: null },
  f16: { dtype: DType.float16, scales: 'none', packer: null, kernel: 'linear', operator: null },
  /** Rows of bytes with signs. */
  i8: { dtype: DType.int8, scales: 'rows', packer: null, kernel: 'int8_mm', operator: 'aten::_weight_int8pack_mm' },
  /** Two numbers of 4 bits a byte; each group of a row has a scale and a zero point. */
  i4: { dtype: DType.uint8, scales: 'groups', packer: 'int4_pack', kernel: 'int4_mm', operator: 'aten::_weight_int4pack_mm_for_cpu' },
} as const satisfies Readonly<Record<string, WeightRow>>

export type WeightFormat = keyof typeof WEIGHT_FORMATS

const FORMATS: Readonly<Record<WeightFormat, WeightRow>> = WEIGHT_FORMATS

/** The weight of a linear layer or the filter of a convolution. */
export interface PackedWeight {
  readonly values: ValueId
  readonly format: WeightFormat
  /** Of formats with integers. */
  readonly scales: ValueId | null
  /** Numbers of a row that share a scale; 0 where whole rows do. */
  readonly group: number
}

/** The format of floats of a dtype; undefined for dtypes that are none, integers of a format among them: these have scales. */
export function floatFormat(dtype: DType): WeightFormat | undefined {
  return (Object.keys(FORMATS) as WeightFormat[]).find((name) => FORMATS[name].dtype === dtype && FORMATS[name].scales === 'none')
}

/** A weight of floats. */
export const floatWeight = (values: ValueId, format: WeightFormat = 'f32'): PackedWeight => ({ values, format, scales: null, group: 0 })

/** Whether the kernel of a layer with this weight goes on with bounds and steps. */
export function takesSteps({ format }: PackedWeight): boolean {
  return FORMATS[format].operator === null
}

/** The operator and arguments that multiply rows by a weight of integers; null where the layer's own operator takes it. */
export function integerProduct(
  input: ValueId,
  { values, format, scales, group }: PackedWeight,
): { op: string; args: readonly Arg[] } | null {
  const { operator: op, scales: kind } = FORMATS[format]
  if (op === null) return null
  const groups = kind === 'groups' ? [constant(group)] : []
  return { op, args: [value(input), value(values), ...groups, OPTIONAL_VALUE.toArg(scales)] }
}

const FORMAT = word(...(Object.keys(FORMATS) as WeightFormat[]))

/** A weight of float32 is its values alone, others also their format, scales and groups. */
export const WEIGHT: Field<PackedWeight> = {
  toArg: ({ values, format, scales, group }) =>
    format === 'f32' ? value(values) : tuple(value(values), FORMAT.toArg(format), OPTIONAL_VALUE.toArg(scales), INT.toArg(group)),
  fromArg: (arg) => {
    if (arg.kind === 'value') return floatWeight(arg.id)
    const [values, format, scales, group] = partsOf(arg, 4, 'a weight, its format, its scales and the size of groups') as [
      Arg,
      Arg,
      Arg,
      Arg,
    ]
    return {
      values: VALUE.fromArg(values),
      format: FORMAT.fromArg(format),
      scales: OPTIONAL_VALUE.fromArg(scales),
      group: INT.fromArg(group),
    }
  },
  isNone: () => false,
}
