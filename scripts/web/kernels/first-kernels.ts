/**
 * Kernels of the file that a page loads before anything else: those of usual networks as they are interpreted, and what tensors and their methods need. The
 * second file has all others: plans and what only they run, weights of few bits, sorting, linear algebra, and what few models have.
 */
export const FIRST_KERNELS: ReadonlySet<string> = new Set([
  // memory, and the processor
  ...[
    'budget_enter',
    'budget_leave',
    'cpu_detect',
    'cpu_info',
    'cpu_limit',
    'cpu_text',
    'owner_create',
    'owner_enter',
    'owner_release',
    'thread_limit',
    'vector_length',
  ],
  ...['mem_alloc', 'mem_copy', 'mem_crc32', 'mem_discard', 'mem_fill', 'mem_forget', 'mem_free', 'mem_hash', 'mem_map', 'mem_place'],
  ...['mem_read', 'mem_trim', 'mem_unmap', 'mem_write'],
  // element by element
  ...['activation', 'binary', 'complex_unary', 'copy', 'equal', 'fill', 'join_rows', 'pad', 'ternary', 'truth', 'unary', 'zero_triangle'],
  ...['float_range', 'random_fill', 'random_seed', 'random_state_bytes', 'sequence'],
  // layers
  ...[
    'attention',
    'batch_norm',
    'batch_norm_stats',
    'bfloat16_conv',
    'bfloat16_gemm',
    'conv',
    'conv_transpose',
    'gemm',
    'gemm_pack',
    'gemm_pack_size',
  ],
  ...['group_norm', 'layer_norm', 'linear', 'pool', 'recurrent_cell', 'softmax'],
  // reductions, and elements by their places
  ...['divide_counts', 'embedding_rows', 'index_get', 'index_put', 'masked_fill', 'nonzero', 'reduce', 'reduce_arg', 'select'],
])

/** Kernels that operators have for the compiler's calls alone. */
export const COMPILED_CALLS: ReadonlySet<string> = new Set(['conv_post', 'gemm_post', 'linear_post'])

/** Functions of the second file that are none of kernels: steps behind products, which plans alone ask for. */
export const STEPS = /::(unary|binary)_step\(/
