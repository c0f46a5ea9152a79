import { chain } from './pass-checks.js'

/* Rows of the canonical table for shapes, norms, casts and products: graphs, and the operators they become. */

export type Rows = Readonly<Record<string, readonly (readonly [string, ...string[]])[]>>

const rowsOf = (entries: readonly (readonly [string, Rows[string]])[]): Rows => Object.fromEntries(entries)

/** A view of an input, and an operator that reads it. */
const shown = (text: string, result: string, input = '2, 3, 4'): string => `input %0: float32[${input}] @0
%1: float32[${result}] @0 = aten::${text}
%2: float32[${result.replace(/\].*/, '')}] @2 = aten::reshape(%1, [${result.replace(/\].*/, '')}])
%3: float32[${result.replace(/\].*/, '')}] @3 = aten::exp(%2)
return %3
`
const exps = (op: string): readonly [string, string, string] => [op, 'aten::reshape', 'aten::exp']
const reshape = (text: string, result: string, input?: string): readonly [string, ...string[]] => [
  shown(text, result, input),
  ...exps('aten::reshape'),
]
/** The result is copied to be dense, so that only strides differ. */
const permute = (text: string, result: string, input?: string): readonly [string, ...string[]] => [
  shown(text, result, input).replace(/%2: (.*) = aten::reshape\(%1.*\)/, '%2: $1 = aten::contiguous(%1, 0)'),
  'aten::permute',
  'aten::contiguous',
  'aten::exp',
]
const pieces = (text: string, sizes: readonly number[], left = 'aten::split_with_sizes'): readonly [string, ...string[]] => {
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((a, b) => a + b, 0))
  const parts = sizes.map((size, i) => `%${10 + i}: float32[3, ${size}] strides [5, 1]${starts[i] === 0 ? '' : ` from ${starts[i]!}`} @0`)
  const cat = parts.map((_, i) => `%${10 + i}`).join(', ')
  return [
    `input %0: float32[3, 5] @0\n[${parts.join(', ')}] = aten::${text}\n%1: float32[3, 5] @1 = aten::cat([${cat}], 1)\nreturn %1\n`,
    left,
    'aten::cat',
  ]
}
const bool = (text: string, given: string): string => `input %0: float32[3, 5] @0
%1: bool[3, 5] @1 = aten::gt.Scalar(%0, 0.5)
%2: ${given} @2 = aten::${text}
return %2
`
const compared = (text: string): string => `input %0: float32[3, 5] @0
%1: float32[3, 5] @1 = aten::sin(%0)
%2: bool[3, 5] @2 = aten::${text}
return %2
`
const binary = (text: string, a: string, b: string, result: string): string => `input %0: float32[${a}] @0
input %1: float32[${b}] @1
%2: float32[${result}] @2 = aten::${text}
return %2
`
const einsum = (equation: string, a: string, b: string, result: string, ...left: string[]): readonly [string, ...string[]] => [
  binary(`einsum("${equation}", [%0, %1], None)`, a, b, result),
  ...left.map((op) => `aten::${op}`),
]
const pooled = (dims: number, input: string, result: string): readonly [string, string] => {
  const list = (n: number): string => `[${new Array<number>(dims).fill(n).join(', ')}]`
  return [
    `input %0: float32[${input}] @0
%1: float32[${result}] @1, _ = aten::max_pool${dims}d_with_indices(%0, ${list(2)}, ${list(2)}, ${list(0)}, ${list(1)}, False)
return %1
`,
    `aten::max_pool${dims}d`,
  ]
}

const SHAPES: Rows = {
  'aten::reshape': [reshape('reshape(%0, [2, -1])', '2, 12')],
  'aten::view': [reshape('view(%0, [-1])', '24')],
  'aten::_unsafe_view': [reshape('_unsafe_view(%0, [6, 4])', '6, 4')],
  'aten::_reshape_alias': [reshape('_reshape_alias(%0, [6, 4], [4, 1])', '6, 4')],
  'aten::view_as': [reshape('view_as(%0, %0)', '2, 3, 4')],
  'aten::reshape_as': [reshape('reshape_as(%0, %0)', '2, 3, 4')],
  'aten::flatten.using_ints': [reshape('flatten.using_ints(%0, 1, -1)', '2, 12')],
  'aten::unflatten.int': [reshape('unflatten.int(%0, 2, [2, -1])', '2, 3, 2, 2')],
  'aten::ravel': [reshape('ravel(%0)', '24')],
  'aten::squeeze': [reshape('squeeze(%0)', '3, 4', '1, 3, 1, 4')],
  'aten::squeeze.dim': [reshape('squeeze.dim(%0, -2)', '1, 3, 4', '1, 3, 1, 4')],
  'aten::squeeze.dims': [reshape('squeeze.dims(%0, [0, 2])', '3, 4', '1, 3, 1, 4')],
  'aten::unsqueeze': [reshape('unsqueeze(%0, 1)', '2, 1, 3, 4')],
  'aten::t': [permute('t(%0)', '4, 3] strides [1, 4', '3, 4')],
  'aten::numpy_T': [permute('numpy_T(%0)', '4, 3, 2] strides [1, 4, 12')],
  'aten::numpy_T.a': [permute('numpy_T.a(%0)', '4, 3, 2] strides [1, 4, 12')],
  ...rowsOf(
    ['mT', 'mT.a', 'mH', 'mH.a', 'adjoint', 'matrix_H'].map((name) => [
      `aten::${name}`,
      [name === 'matrix_H' ? permute('matrix_H(%0)', '4, 3] strides [1, 4', '3, 4') : permute(`${name}(%0)`, '2, 4, 3] strides [12, 1, 4')],
    ]),
  ),
  ...rowsOf(
    ['transpose.int', 'swapaxes', 'swapdims'].map((name) => [
      `aten::${name}`,
      [permute(`${name}(%0, 0, -2)`, '3, 2, 4] strides [4, 12, 1')],
    ]),
  ),
  ...rowsOf(
    ['movedim', 'moveaxis'].flatMap((name) => [
      [`aten::${name}.int`, [permute(`${name}.int(%0, 0, -1)`, '3, 4, 2] strides [4, 1, 12')]],
      [`aten::${name}.intlist`, [permute(`${name}.intlist(%0, [0, 2], [2, 0])`, '4, 3, 2] strides [1, 4, 12')]],
    ]),
  ),
  'aten::expand_as': [
    [
      binary('mul.Tensor(%0, %3)', '3, 5', '3, 1', '3, 5').replace(
        '%2:',
        '%3: float32[3, 5] strides [1, 0] @1 = aten::expand_as(%1, %0)\n%2:',
      ),
      'aten::expand',
      'aten::mul.Tensor',
    ],
  ],
  'aten::broadcast_to': [
    [
      binary('mul.Tensor(%0, %3)', '3, 5', '3, 1', '3, 5').replace(
        '%2:',
        '%3: float32[3, 5] strides [1, 0] @1 = aten::broadcast_to(%1, [3, 5])\n%2:',
      ),
      'aten::expand',
      'aten::mul.Tensor',
    ],
  ],
  'aten::narrow': [
    [
      'input %0: float32[3, 5] @0\n%1: float32[3, 2] strides [5, 1] from 2 @0 = aten::narrow(%0, 1, -3, 2)\n%2: float32[3, 2] @2 = aten::exp(%1)\nreturn %2\n',
      'aten::slice.Tensor',
      'aten::exp',
    ],
  ],
  'aten::chunk': [pieces('chunk(%0, 3, 1)', [2, 2, 1])],
  'aten::split.Tensor': [pieces('split.Tensor(%0, 3, -1)', [3, 2])],
  'aten::split.sizes': [pieces('split.sizes(%0, [1, 4], 1)', [1, 4])],
  'aten::unsafe_chunk': [pieces('unsafe_chunk(%0, 2, 1)', [3, 2])],
  'aten::unsafe_split.Tensor': [pieces('unsafe_split.Tensor(%0, 4, 1)', [4, 1])],
  'aten::tensor_split.sections': [pieces('tensor_split.sections(%0, 2, 1)', [3, 2])],
  'aten::clone': [
    [
      'input %0: float32[3, 5] @0\n%1: float32[5, 3] strides [1, 5] @0 = aten::permute(%0, [1, 0])\n%2: float32[5, 3] @2 = aten::clone(%1, 0)\nreturn %2\n',
      'aten::permute',
      'aten::contiguous',
    ],
  ],
  'aten::max_pool1d_with_indices': [pooled(1, '2, 3, 6', '2, 3, 3')],
  'aten::max_pool2d_with_indices': [pooled(2, '2, 3, 6, 4', '2, 3, 3, 2')],
  'aten::max_pool3d_with_indices': [pooled(3, '2, 3, 6, 4, 2', '2, 3, 3, 2, 1')],
  'aten::_adaptive_avg_pool2d': [
    [
      'input %0: float32[2, 3, 6, 4] @0\n%1: float32[2, 3, 2, 2] @1 = aten::_adaptive_avg_pool2d(%0, [2, 2])\nreturn %1\n',
      'aten::adaptive_avg_pool2d',
    ],
  ],
}

const NORMS: Rows = {
  'aten::native_layer_norm': [
    [
      'input %0: float32[3, 5] @0\nconstant %1: float32[5] @1 = "five"\n%2: float32[3, 5] @2, _, _ = aten::native_layer_norm(%0, [5], %1, None, 1e-05)\nreturn %2\n',
      'aten::layer_norm',
    ],
  ],
  'aten::native_group_norm': [
    [
      'input %0: float32[2, 4, 3] @0\nconstant %1: float32[4] @1 = "bias"\n%2: float32[2, 4, 3] @2, _, _ = aten::native_group_norm(%0, %1, None, 2, 4, 3, 2, 1e-05)\nreturn %2\n',
      'aten::group_norm',
    ],
  ],
  'aten::var.dim': [
    [chain('3, 1', ['var.dim(%0, [-1], True, True)']).replace('%0: float32[3, 1]', '%0: float32[3, 7]'), 'aten::var.correction'],
    [chain('3', ['var.dim(%0, [1], False, False)']).replace('%0: float32[3]', '%0: float32[3, 7]'), 'aten::var.correction'],
  ],
  ...rowsOf(
    ['max', 'min'].map((name) => [
      `aten::${name}.dim`,
      [[`input %0: float32[3, 7] @0\n%1: float32[3, 1] @1, _ = aten::${name}.dim(%0, -1, True)\nreturn %1\n`, `aten::a${name}`] as const],
    ]),
  ),
  'aten::_log_softmax': [[chain('3, 5', ['_log_softmax(%0, 1, False)']), 'aten::log_softmax.int']],
  'aten::log_softmax.int': [[chain('3, 5', ['log_softmax.int(%0, -1, 6)']), 'aten::log_softmax.int']],
}

const number = (text: string): string => chain('3, 5', [text], 'constant %20: float64[] @20 = "number"\n')
const POINTWISE: Rows = {
  'aten::clamp_min': [
    [chain('3, 5', ['clamp_min(%0, 0)']), 'aten::relu'],
    [chain('3, 5', ['clamp_min(%0, 0.5)']), 'aten::clamp'],
  ],
  'aten::clamp_max': [[chain('3, 5', ['clamp_max(%0, 0.5)']), 'aten::clamp']],
  'aten::threshold': [[chain('3, 5', ['threshold(%0, 0., 0.)']), 'aten::relu']],
  'aten::pow.Tensor_Scalar': [
    [chain('3, 5', ['pow.Tensor_Scalar(%0, 2)']), 'aten::square'],
    [chain('3, 5', ['exp(%0)', 'pow.Tensor_Scalar(%1, 0.5)']), 'aten::exp', 'aten::sqrt'],
    [chain('3, 5', ['exp(%0)', 'pow.Tensor_Scalar(%1, -0.5)']), 'aten::exp', 'aten::rsqrt'],
    [chain('3, 5', ['exp(%0)', 'pow.Tensor_Scalar(%1, -1.)']), 'aten::exp', 'aten::reciprocal'],
  ],
  'aten::pow.Tensor_Tensor': [
    [
      chain('3, 5', ['exp(%0)', 'pow.Tensor_Tensor(%1, %20)'], 'constant %20: float64[] @20 = "number"\n'),
      'aten::exp',
      'aten::pow.Tensor_Scalar',
    ],
    [chain('3, 5', ['pow.Tensor_Tensor(%0, %20)'], 'constant %20: int64[] @20 = "two"\n'), 'aten::square'],
  ],
  'aten::rsub.Tensor': [[chain('3, 5', ['exp(%0)', 'rsub.Tensor(%0, %1, 2)']), 'aten::exp', 'aten::sub.Tensor']],
  'aten::add.Tensor': [
    [number('add.Tensor(%0, %20, 2)'), 'aten::add.Scalar'],
    [number('add.Tensor(%20, %0, 1)'), 'aten::add.Scalar'],
    [chain('3, 5', ['add.Tensor(%0, %20, 1)'], 'constant %20: int64[] @20 = "two"\n'), 'aten::add.Scalar'],
    [chain('3, 5', ['add.Tensor(%0, %20, 1)'], 'constant %20: float32[1] @20 = "slope"\n'), 'aten::add.Scalar'],
  ],
  'aten::sub.Tensor': [
    [number('sub.Tensor(%0, %20, 2)'), 'aten::sub.Scalar'],
    [number('sub.Tensor(%20, %0, 2)'), 'aten::rsub.Scalar'],
  ],
  'aten::mul.Tensor': [
    [number('mul.Tensor(%0, %20)'), 'aten::mul.Scalar'],
    [number('mul.Tensor(%20, %0)'), 'aten::mul.Scalar'],
  ],
  'aten::div.Tensor': [
    [number('div.Tensor(%0, %20)'), 'aten::div.Scalar'],
    [chain('3, 5', ['exp(%0)', 'div.Tensor(%20, %1)'], 'constant %20: float32[] @20 = "one"\n'), 'aten::exp', 'aten::reciprocal'],
  ],
  'aten::masked_fill.Tensor': [
    [
      bool('masked_fill.Tensor(%0, %1, %20)', 'float32[3, 5]').replace('%1:', 'constant %20: float64[] @20 = "number"\n%1:'),
      'aten::gt.Scalar',
      'aten::masked_fill.Scalar',
    ],
  ],
  ...rowsOf(
    [
      ['where.ScalarSelf(%1, -inf, %0)', 'masked_fill.Scalar'],
      ['where.ScalarOther(%1, %0, -inf)', 'logical_not', 'masked_fill.Scalar'],
      ['where.self(%1, %20, %0)', 'masked_fill.Scalar'],
    ].map(([text, ...left]) => {
      // what is hidden is nothing in a softmax; some of each row is not
      const graph = bool(text!, 'float32[3, 5]')
        .replace('0.5', text!.includes('Other') ? '-1.2' : '2.2')
        .replace('return %2', '%3: float32[3, 5] @3 = aten::softmax.int(%2, -1, None)\nreturn %3')
      const operators = ['gt.Scalar', ...left, 'softmax.int'].map((op) => `aten::${op}`)
      const given = text!.includes('%20') ? graph.replace('%1:', 'constant %20: float32[] @20 = "hidden"\n%1:') : graph
      return [`aten::${text!.split('(')[0]!}`, [[given, ...operators] as const]] as const
    }),
  ),
  ...rowsOf(
    ['and', 'or'].map((name) => [
      `aten::__${name}__.Tensor`,
      [[bool(`__${name}__.Tensor(%1, %1)`, 'bool[3, 5]'), 'aten::gt.Scalar', `aten::bitwise_${name}.Tensor`] as const],
    ]),
  ),
  ...rowsOf(
    [
      ['greater', 'gt'],
      ['greater_equal', 'ge'],
      ['less', 'lt'],
      ['less_equal', 'le'],
      ['not_equal', 'ne'],
    ].flatMap(([alias, op]) => [
      [`aten::${alias!}.Tensor`, [[compared(`${alias!}.Tensor(%0, %1)`), 'aten::sin', `aten::${op!}.Tensor`] as const]],
      [`aten::${alias!}.Scalar`, [[compared(`${alias!}.Scalar(%0, 0.5)`), 'aten::sin', `aten::${op!}.Scalar`] as const]],
    ]),
  ),
}

const cast = (text: string): readonly [string, ...string[]] => [
  bool(text, 'float32[3, 5]').replace('return %2', '%3: float32[3, 5] @3 = aten::mul.Tensor(%2, %0)\nreturn %3'),
  'aten::gt.Scalar',
  'aten::to.dtype',
  'aten::mul.Tensor',
]
const CASTS: Rows = {
  'aten::to.other': [cast('to.other(%1, %0, False, False, None)')],
  'aten::to.device': [cast('to.device(%1, device "cpu", 6, False, False, None)')],
  'aten::to.dtype_layout': [cast('to.dtype_layout(%1, 6, 0, device "cpu", False, False, False, None)')],
  'aten::_to_copy': [cast('_to_copy(%1, 6, None, None, None, False, None)')],
  'aten::type_as': [cast('type_as(%1, %0)')],
}

const PRODUCTS: Rows = {
  'aten::mm': [[binary('mm(%0, %1)', '3, 5', '5, 4', '3, 4'), 'aten::matmul']],
  'aten::bmm': [[binary('bmm(%0, %1)', '2, 3, 5', '2, 5, 4', '2, 3, 4'), 'aten::matmul']],
  'aten::linalg_matmul': [[binary('linalg_matmul(%0, %1)', '3, 5', '5, 4', '3, 4'), 'aten::matmul']],
  'aten::einsum': [
    einsum('nc,oc->no', '3, 5', '4, 5', '3, 4', 'permute', 'matmul'),
    einsum('bnc,oc->bno', '2, 3, 5', '4, 5', '2, 3, 4', 'permute', 'matmul'),
    einsum('bnc,co->bno', '2, 3, 5', '5, 4', '2, 3, 4', 'matmul'),
    einsum('bij,jk->bik', '2, 3, 5', '5, 4', '2, 3, 4', 'matmul'),
    einsum('...c,oc->...o', '2, 3, 2, 5', '4, 5', '2, 3, 2, 4', 'permute', 'matmul'),
    einsum('...qd,...kd->...qk', '2, 2, 3, 5', '2, 2, 4, 5', '2, 2, 3, 4', 'permute', 'matmul'),
    einsum('ij, jk', '3, 5', '5, 4', '3, 4', 'matmul'),
    einsum('oc,nc->no', '4, 5', '3, 5', '3, 4', 'permute', 'matmul'),
    einsum('bhqd,bhkd->bhqk', '2, 3, 4, 5', '2, 3, 6, 5', '2, 3, 4, 6', 'permute', 'matmul'),
    einsum('bhkd,bhqd->bhqk', '2, 3, 6, 5', '2, 3, 4, 5', '2, 3, 4, 6', 'permute', 'matmul'),
    einsum('bhqk,bhkd->bhqd', '2, 3, 4, 6', '2, 3, 6, 5', '2, 3, 4, 5', 'matmul'),
    // several columns, several summed dimensions
    einsum('bnc,chd->bnhd', '2, 3, 5', '5, 2, 4', '2, 3, 2, 4', 'reshape', 'matmul', 'reshape'),
    einsum('bnhd,hdo->bno', '2, 3, 2, 4', '2, 4, 5', '2, 3, 5', 'reshape', 'reshape', 'matmul'),
    einsum('ibnd,hnd->ibh', '3, 2, 4, 5', '6, 4, 5', '3, 2, 6', 'reshape', 'permute', 'reshape', 'matmul'),
    // several rows in batches, in an order of its own
    einsum(
      'byhwc,hkc->byhwk',
      '2, 3, 4, 2, 5',
      '4, 6, 5',
      '2, 3, 4, 2, 6',
      ...['permute', 'reshape', 'permute', 'matmul', 'reshape', 'permute', 'contiguous'],
    ),
    einsum('bhqd,bkhd->bqhk', '2, 3, 4, 5', '2, 6, 3, 5', '2, 4, 3, 6', 'permute', 'matmul', 'permute', 'contiguous'),
    [
      `input %0: float32[2, 3, 4] @0
%1: float32[4, 2, 3] @1 = aten::einsum("abc->cab", [%0], None)
return %1
`,
      'aten::permute',
      'aten::contiguous',
    ],
  ],
}

export const MORE_ROWS: Rows = { ...SHAPES, ...NORMS, ...POINTWISE, ...CASTS, ...PRODUCTS }
