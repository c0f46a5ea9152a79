/*
 * What PyTorch computes on the CPU with tensors of dtypes that have little arithmetic, as 2.13 does: unsigned integers of 16 bits and more, and floats
 * of 8 bits. Operators are named without their overloads; in-place forms go by the name of what they write.
 */

/** How an operator is carried out. */
export interface LimitedRule {
  /**
   * `as-is`: its code moves elements, whatever they are. `exact`: on tensors of a dtype with arithmetic that holds all their numbers, int64 or float32.
   * `real`: on float32 tensors.
   */
  readonly by: 'as-is' | 'exact' | 'real'
  /** Results that become elements of the dtype again, where they are of the one that stood for it. */
  readonly back: readonly number[]
  readonly unsigned: boolean
  readonly float8: boolean
}

const AS_IS =
  'clone copy_ copy cat concat stack hstack vstack dstack column_stack row_stack block_diag index index_select embedding flip roll repeat repeat_interleave tile ' +
  'constant_pad_nd pad fill_ fill zero_ zero zeros ones full empty empty_strided zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty ' +
  'new_empty_strided scalar_tensor tensor as_tensor _to_copy type_as to item tolist size stride dim numel storage_offset is_contiguous is_floating_point is_complex is_signed ' +
  'is_nonzero is_same_size sym_size sym_stride sym_numel sym_storage_offset meshgrid broadcast_tensors dropout dropout_ feature_dropout diag diag_embed cartesian_prod set_ ' +
  'resize_ resize_as_ IntImplicit FloatImplicit ScalarImplicit Int Float Bool _local_scalar_dense len get_device is_cuda is_sparse dtype layout device ' +
  'requires_grad requires_grad_ __is__ __isnot__ lift lift_fresh lift_fresh_copy resolve_conj resolve_neg detach detach_ alias positive append extend insert unsqueeze_ squeeze_ ' +
  't_ transpose_ swapaxes_ swapdims_ as_strided_ is_pinned can_cast result_type _assert_tensor_metadata element_size data contiguous unsafe_chunk unsafe_split unsafe_split_with_sizes'

const EXACT = 'eq ne equal isnan any all'
const EXACT_BACK = 'where mul multiply outer ger'
const UNSIGNED_EXACT = 'sum prod cumsum cumprod nansum argsort allclose isclose isinf isfinite isposinf isneginf'
const UNSIGNED_BACK =
  'bitwise_and bitwise_or bitwise_xor __and__ __or__ __xor__ sort msort unique _unique _unique2 unique_dim unique_consecutive floor ceil round trunc fix nan_to_num'
const UNSIGNED_REAL =
  'sqrt exp exp2 expm1 log log2 log10 log1p sigmoid tanh reciprocal erf erfc sin cos tan sinh cosh asin acos atan asinh acosh atanh signbit angle rsqrt div divide true_divide ' +
  'atan2 arctan2 copysign logsumexp'
/** Where another operand is a floating-point one. */
const UNSIGNED_WITH_FLOAT =
  'add sub subtract rsub floor_divide remainder fmod pow lt le gt ge less less_equal greater greater_equal maximum minimum fmax fmin logical_and logical_or logical_xor hypot'
const FLOAT8_BACK = 'abs absolute mm matmul addmm linear masked_select index_put index_put_ _index_put_impl_ eye'

function words(text: string): string[] {
  return text.split(' ')
}

let rules: Map<string, LimitedRule> | undefined
let withFloat: Set<string> | undefined

/** The rule of an operator, `aten::mul`; undefined for one that takes no such tensors. */
export function limitedRule(name: string): LimitedRule | undefined {
  return (rules ??= allRules()).get(name)
}

/** Whether unsigned integers are taken beside floating-point numbers alone. */
export function needsFloat(name: string): boolean {
  return (withFloat ??= new Set(words(UNSIGNED_WITH_FLOAT).map((word) => `aten::${word}`))).has(name)
}

/** Whether an operator has code of its own for these dtypes. */
export function takesAll(qualifiedName: string): boolean {
  return /^((prim|quantized_decomposed|torchao)::|aten::_scaled_mm\b)/.test(qualifiedName)
}

function allRules(): Map<string, LimitedRule> {
  const all = new Map<string, LimitedRule>()
  const put = (names: string, rule: LimitedRule): void => words(names).forEach((word) => all.set(`aten::${word}`, rule))
  put(AS_IS, { by: 'as-is', back: [], unsigned: true, float8: true })
  put(EXACT, { by: 'exact', back: [], unsigned: true, float8: true })
  put(EXACT_BACK, { by: 'exact', back: [0], unsigned: true, float8: true })
  put(UNSIGNED_EXACT, { by: 'exact', back: [], unsigned: true, float8: false })
  put(UNSIGNED_BACK, { by: 'exact', back: [0], unsigned: true, float8: false })
  put(UNSIGNED_REAL, { by: 'real', back: [], unsigned: true, float8: false })
  put(UNSIGNED_WITH_FLOAT, { by: 'real', back: [], unsigned: true, float8: false })
  put(FLOAT8_BACK, { by: 'exact', back: [0], unsigned: false, float8: true })
  return all
}
