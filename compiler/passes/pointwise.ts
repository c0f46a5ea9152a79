/** Operators that compute each element of one tensor by itself, from numbers besides; results have the strides of dense tensors. */
export const POINTWISE: ReadonlySet<string> = new Set(
  (
    'abs acos acosh asin asinh atan atanh ceil celu clamp clamp_max clamp_min cos cosh elu erf erfc exp exp2 expm1 floor frac gelu hardshrink ' +
    'hardsigmoid hardswish hardtanh leaky_relu log log10 log1p log2 log_sigmoid mish neg reciprocal relu relu6 round rsqrt selu sigmoid sign silu ' +
    'sin sinh softplus softshrink sqrt square tan tanh threshold trunc add.Scalar div.Scalar mul.Scalar pow.Tensor_Scalar sub.Scalar'
  )
    .split(' ')
    .map((name) => `aten::${name}`),
)
