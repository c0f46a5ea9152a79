/** Operators of `prims` (torch/_prims) that do what one of ATen does with arguments of the same order, where the name differs. */
const RENAMED: Readonly<Record<string, string>> = {
  bessel_i0: 'i0',
  bessel_i0e: 'special_i0e',
  bessel_i1: 'special_i1',
  bessel_i1e: 'special_i1e',
  convert_element_type: 'to.dtype',
  erf_inv: 'erfinv',
  erfcx: 'special_erfcx',
  ndtri: 'special_ndtri',
  pow: 'pow.Tensor_Tensor',
  rev: 'flip',
  shift_left: 'bitwise_left_shift.Tensor',
  shift_right_arithmetic: 'bitwise_right_shift.Tensor',
  squeeze: 'squeeze.dims',
  transpose: 'permute',
  view_of: 'alias',
  where: 'where.self',
  zeta: 'special_zeta',
}

const SAME = new Set(
  `abs acos acosh asin asinh atan atan2 atanh bitwise_not cat ceil clone conj_physical cos cosh digamma erf erfc exp exp2 expm1 floor fmax fmin gcd
   hypot igamma igammac imag isfinite lgamma log log10 log1p log2 maximum minimum neg nextafter real reciprocal reshape round rsqrt scalar_tensor
   sign signbit sin sinh sqrt tan tanh trunc`.split(/\s+/),
)

const OF_TENSORS = new Set('add bitwise_and bitwise_or bitwise_xor eq fmod ge gt le lt mul ne remainder sub'.split(' '))

/** `aten::mul.Tensor` for `mul`; undefined for what has no operator of the same meaning. */
export function atenOfPrim(name: string): string | undefined {
  if (SAME.has(name)) return `aten::${name}`
  if (OF_TENSORS.has(name)) return `aten::${name}.Tensor`
  return Object.hasOwn(RENAMED, name) ? `aten::${RENAMED[name]!}` : undefined
}
