import { named } from '../../graph/arguments.js'
import { constant, NONE } from '../../graph/graph.js'
import {
  convolution,
  convolutionMode,
  depthwise,
  nnpack,
  ofKernelSize,
  ONES,
  paddedByName,
  transposedOfKernelSize,
} from './convolutions.js'
import { isFlag } from '../analysis.js'
import { type Form, renamed } from './form.js'
import { batchNorm, extreme, groupNorm, layerNorm, softmax, variance } from './norms.js'
import {
  bounded,
  cast,
  celu,
  chosenScore,
  elu,
  eluSteps,
  filled,
  logSigmoid,
  oneSlope,
  power,
  productAdded,
  quantizedByNumbers,
  subtractedFrom,
  threshold,
  withNumber,
  withoutCast,
} from './pointwise.js'
import { einsum } from './products.js'
import {
  denseCopy,
  expanded,
  lastExchanged,
  maxPool,
  moved,
  narrowed,
  permuted,
  pieces,
  reshaped,
  reshapedDense,
  reversed,
  twoExchanged,
} from './shapes.js'

const DIMS = [1, 2, 3] as const

/** Operators under other names, which take the same arguments. */
const ALIASES: Readonly<Record<string, string>> = {
  'multiply.Tensor': 'mul.Tensor',
  'multiply.Scalar': 'mul.Scalar',
  'divide.Tensor': 'div.Tensor',
  'divide.Scalar': 'div.Scalar',
  'true_divide.Tensor': 'div.Tensor',
  'true_divide.Scalar': 'div.Scalar',
  'subtract.Tensor': 'sub.Tensor',
  'subtract.Scalar': 'sub.Scalar',
  negative: 'neg',
  absolute: 'abs',
  clip: 'clamp',
  special_expit: 'sigmoid',
  special_erf: 'erf',
  concat: 'cat',
  concatenate: 'cat',
  'max.other': 'maximum',
  'min.other': 'minimum',
  '__and__.Tensor': 'bitwise_and.Tensor',
  '__or__.Tensor': 'bitwise_or.Tensor',
  'greater.Tensor': 'gt.Tensor',
  'greater.Scalar': 'gt.Scalar',
  'greater_equal.Tensor': 'ge.Tensor',
  'greater_equal.Scalar': 'ge.Scalar',
  'less.Tensor': 'lt.Tensor',
  'less.Scalar': 'lt.Scalar',
  'less_equal.Tensor': 'le.Tensor',
  'less_equal.Scalar': 'le.Scalar',
  'not_equal.Tensor': 'ne.Tensor',
  'not_equal.Scalar': 'ne.Scalar',
  special_softmax: 'softmax.int',
  special_log_softmax: 'log_softmax.int',
  _adaptive_avg_pool2d: 'adaptive_avg_pool2d',
  mm: 'matmul',
  bmm: 'matmul',
  linalg_matmul: 'matmul',
  'split.sizes': 'split_with_sizes',
}

/** Klambauer et al., "Self-Normalizing Neural Networks": alpha, scale, and what the input is scaled with. */
const SELU = [1.6732632423543772, 1.0507009873554805, 1] as const

const all = (names: readonly string[], form: Form): [string, Form][] => names.map((name) => [`aten::${name}`, form])
const transposition = permuted(twoExchanged)
const movement = permuted(moved)
const matrixTransposition = permuted(lastExchanged)
const reversal = permuted(reversed)

/** Every spelling that becomes another one. */
export const CANONICAL_FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ...Object.entries(ALIASES).flatMap(([alias, op]) => all([alias], renamed(`aten::${op}`))),
  // convolutions: conv1d to conv3d, and conv_transpose1d to conv_transpose3d
  ...all(['_convolution', '_convolution.deprecated', 'convolution'], convolution),
  ...DIMS.flatMap((dims) => all([`conv${dims}d.padding`], (node, analysis, editor) => paddedByName(node, dims, analysis, editor))),
  ...all(['_convolution_mode'], convolutionMode),
  ...all(['thnn_conv2d', '_slow_conv2d_forward'], (node) => ofKernelSize(node, 2, ONES)),
  ...all(['slow_conv3d', 'slow_conv3d_forward'], (node) => ofKernelSize(node, 3, ONES)),
  ...all(['slow_conv_dilated2d'], (node) => ofKernelSize(node, 2, named(node, 'dilation'))),
  ...all(['slow_conv_dilated3d'], (node) => ofKernelSize(node, 3, named(node, 'dilation'))),
  ...all(['_conv_depthwise2d'], (node, analysis) => depthwise(node, 2, analysis)),
  ...all(['conv_depthwise3d'], (node, analysis) => depthwise(node, 3, analysis)),
  ...all(['slow_conv_transpose2d'], (node) => transposedOfKernelSize(node, 2)),
  ...all(['slow_conv_transpose3d'], (node) => transposedOfKernelSize(node, 3)),
  ...all(['_nnpack_spatial_convolution'], nnpack),
  ...all(['max_pool1d_with_indices', 'max_pool2d_with_indices', 'max_pool3d_with_indices'], maxPool),
  // norms
  ...all(['native_batch_norm', '_native_batch_norm_legit', '_batch_norm_impl_index'], (node) =>
    isFlag(named(node, 'training'), false) ? batchNorm(node, 6) : null,
  ),
  ...all(['_native_batch_norm_legit_no_training', '_batch_norm_no_update'], (node) => batchNorm(node, 5)),
  ...all(['native_layer_norm'], layerNorm),
  ...all(['native_group_norm'], groupNorm),
  ...all(['var.dim'], variance),
  ...all(['max.dim', 'min.dim'], extreme),
  ...all(['_softmax', '_log_softmax'], softmax),
  ...all(['softmax.int', 'log_softmax.int'], withoutCast),
  // element-wise operators
  ...all(['prelu'], oneSlope),
  ...all(['selu'], (node, analysis, editor) => eluSteps(node, SELU, analysis, editor)),
  ...all(['celu'], celu),
  ...all(['elu'], elu),
  ...all(['log_sigmoid', 'log_sigmoid_forward'], logSigmoid),
  ...all(['addcmul', 'addcdiv'], productAdded),
  ...all(['hardtanh'], (node, analysis) => bounded(node, named(node, 'min_val'), named(node, 'max_val'), analysis)),
  ...all(['clamp'], (node, analysis) => bounded(node, named(node, 'min'), named(node, 'max'), analysis)),
  ...all(['clamp_min'], (node, analysis) => bounded(node, named(node, 'min'), NONE, analysis)),
  ...all(['clamp_max'], (node, analysis) => bounded(node, NONE, named(node, 'max'), analysis)),
  ...all(['threshold'], threshold),
  ...all(['pow.Tensor_Scalar', 'pow.Tensor_Tensor'], power),
  ...all(['rsub.Tensor'], subtractedFrom),
  ...all(['add.Tensor', 'sub.Tensor', 'mul.Tensor', 'div.Tensor'], withNumber),
  ...all(['masked_fill.Tensor'], filled),
  ...all(['where.self', 'where.ScalarSelf', 'where.ScalarOther'], chosenScore),
  ...all(['to.other', 'to.device', 'to.dtype_layout'], (node, analysis) => cast(node, node.args.at(-2)!, node.args.at(-1), analysis)),
  ...all(['_to_copy'], (node, analysis) => cast(node, constant(true), node.args.at(-1), analysis)),
  ...all(['type_as'], (node, analysis) => cast(node, constant(false), undefined, analysis)),
  ...all(['quantize_per_tensor.tensor_qparams'], quantizedByNumbers),
  // products
  ...all(['einsum'], einsum),
  // shapes
  ...all(['reshape', 'view', '_unsafe_view', 'view_as', 'reshape_as', 'flatten.using_ints', 'unflatten.int', 'ravel'], reshaped),
  ...all(['_reshape_alias', 'squeeze', 'squeeze.dim', 'squeeze.dims', 'unsqueeze'], reshapedDense),
  ...all(['t', 'numpy_T', 'numpy_T.a'], reversal),
  ...all(['mT', 'mT.a', 'mH', 'mH.a', 'adjoint', 'matrix_H'], matrixTransposition),
  ...all(['transpose.int', 'swapaxes', 'swapdims'], transposition),
  ...all(['movedim.int', 'movedim.intlist', 'moveaxis.int', 'moveaxis.intlist'], movement),
  ...all(['expand_as', 'broadcast_to'], expanded),
  ...all(['narrow'], narrowed),
  ...all(['chunk', 'split.Tensor', 'unsafe_chunk', 'unsafe_split.Tensor', 'tensor_split.sections'], pieces),
  ...all(['clone'], denseCopy),
])
