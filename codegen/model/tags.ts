/** PyTorch's tags (2.13's tags.yaml). */
export const TAGS = (
  'inplace_view pt2_compliant_tag view_copy dynamic_output_shape data_dependent_output generated nondeterministic_seeded nondeterministic_bitwise ' +
  'needs_exact_strides needs_contiguous_strides needs_fixed_stride_order flexible_layout core pointwise maybe_aliasing_or_mutating ' +
  'cudagraph_unsafe reduction inplace out out_variant'
).split(' ')

/** What the recorder of models goes by and PyTorch has no tag for. */
export const FACTS = [
  'time_dependent', // its result depends on when it is called
  'side_effect', // it returns nothing, and does something that a replay would not repeat
  'no_effect', // it returns nothing and leaves nothing behind: a replay may leave it out
  'inner_reads', // it reads tensors for numbers of its own, which decide neither shapes nor dtypes of its results
  'uninitialized', // its result holds whatever was in memory
  'reads_by_strides', // it reads memory by strides that it is told, and returns no view of it
  'writes_in_training', // it writes to its arguments where its argument `training` is true
  'moves', // its results are its arguments
  'in_rows', // its result lies in rows, whatever the order of what it computes from
] as const
export type Fact = (typeof FACTS)[number]
