import { type DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import {
  CLAMP,
  type Clamp,
  type Field,
  FLAG,
  FLOAT,
  FLOATS,
  INT,
  INTS,
  LAYER,
  type Layer,
  NO_CLAMP,
  OPTIONAL_LAYER,
  OPTIONAL_VALUE,
  optional,
  POST_OPS,
  type PostOps,
  type Steps,
  VALUE,
  VALUES,
  word,
} from './fields.js'
import { type Arg, constant, NONE, value, type ValueId } from './argument.js'
import { integerProduct, WEIGHT } from './packed-weight.js'

/** An operator and its arguments. */
export interface Call {
  readonly op: string
  readonly args: readonly Arg[]
}

export type FieldsOf<F> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/** A kind of compiled nodes: its fields, and the call that computes a node. */
export interface Kind<F> {
  readonly fields: F
  readonly call: (node: FieldsOf<F>) => Call
}

const kind = <F>(fields: F, call: (node: FieldsOf<F>) => Call): Kind<F> => ({ fields, call })

const idOf = (id: ValueId | null): Arg => (id === null ? NONE : value(id))
const bounds = ({ min, max }: Clamp): Arg[] => [constant(new Float(min)), constant(new Float(max))]
const stepArgs = ({ ops, values, numbers }: Steps): Arg[] => [INTS.toArg(ops), INTS.toArg(values), FLOATS.toArg(numbers)]

/** Arguments for the steps that an operator goes on with. */
function postArgs(post: PostOps | null): Arg[] {
  const { operands, ...steps } = post ?? NO_POST
  return [VALUES.toArg(operands), ...stepArgs(steps)]
}

const NO_POST: PostOps = { operands: [], ops: [], values: [], numbers: [] }

/** Filter and bias. */
const weights = (layer: Layer | null): Arg[] => [idOf(layer?.filter ?? null), idOf(layer?.bias ?? null)]

/**
 * What passes make of a model's operators, by the fields of each. `layout` is that of images: `planes` for [n, c, h, w], `blocks` for
 * [n, c / 16, h, w, 16]. Volumes have a depth in front of the height.
 */
export const KINDS = {
  /** A convolution, plus a residual, between bounds. */
  convolution: kind(
    {
      input: VALUE,
      filter: WEIGHT,
      bias: OPTIONAL_VALUE,
      residual: OPTIONAL_VALUE,
      layout: word('planes', 'blocks'),
      strategy: word('product', 'direct', 'winograd', 'grouped', 'depthwise', 'sparse'),
      /** One per dimension, as are padding and dilation. */
      stride: INTS,
      padding: INTS,
      dilation: INTS,
      groups: optional(INT, 1),
      /** Channels in and out of a group, of strategy `grouped`. */
      perGroup: optional(INTS, [], (list) => list.length === 0),
      clamp: CLAMP,
      post: POST_OPS,
    },
    (node) => {
      const { layout, strategy, groups, perGroup, post } = node
      const operands = [value(node.input), value(node.filter.values), idOf(node.bias)]
      const settings = [node.stride, node.padding, node.dilation].map(INTS.toArg)
      const clamp = bounds(node.clamp)
      const steps = postArgs(post)
      if (layout === 'planes') {
        return strategy === 'sparse'
          ? { op: 'ptlite::sparse_convolution', args: [...operands, ...clamp, ...steps] }
          : { op: 'ptlite::convolution', args: [...operands, ...settings, constant(groups), ...clamp, ...steps] }
      }
      if (strategy === 'depthwise') return { op: 'ptlite::blocked_depthwise', args: [...operands, ...settings, ...clamp, ...steps] }
      const summands = [...operands, idOf(node.residual)]
      switch (strategy) {
        case 'winograd':
          return { op: 'ptlite::winograd_convolution', args: [...summands, settings[1]!, ...clamp, ...steps] }
        case 'sparse':
          return { op: 'ptlite::sparse_blocked_convolution', args: [...summands, ...clamp, ...steps] }
        case 'grouped': {
          const shape = [groups, ...perGroup].map((n) => constant(n))
          return { op: 'ptlite::blocked_grouped_convolution', args: [...summands, ...settings, ...shape, ...clamp, ...steps] }
        }
        default:
          return { op: 'ptlite::blocked_convolution', args: [...summands, ...settings, ...clamp, ...steps] }
      }
    },
  ),
  /** input weight^T + bias, between bounds. */
  linear: kind(
    {
      input: VALUE,
      weight: WEIGHT,
      bias: OPTIONAL_VALUE,
      /** The kernel: SparseForm of those that leave blocks of zeros out. */
      form: optional(word('dense', 'rows', 'unrolled', 'vectors'), 'dense'),
      clamp: CLAMP,
      post: POST_OPS,
    },
    ({ input, weight, bias, form, clamp, post }) => {
      const product = integerProduct(weight)
      const steps = postArgs(post)
      if (product !== null) return { op: product.op, args: [value(input), ...product.args, idOf(bias), ...bounds(clamp), ...steps] }
      const operands = [value(input), value(weight.values), idOf(bias)]
      return form === 'dense'
        ? { op: 'ptlite::linear', args: [...operands, ...bounds(clamp), ...steps] }
        : { op: 'ptlite::sparse_linear', args: [...operands, constant(form), ...bounds(clamp), ...steps] }
    },
  ),
  /** A product of matrices, or of as many pairs of them. */
  matmul: kind({ left: VALUE, right: VALUE, post: POST_OPS }, ({ left, right, post }) => ({
    op: 'ptlite::matmul',
    args: [value(left), value(right), ...postArgs(post)],
  })),
  /** A chain of element-wise steps over tensors that are broadcast to `size`; the results are those of steps `kept`, the last one among them. */
  chain: kind({ inputs: VALUES, size: INTS, ops: INTS, values: INTS, numbers: FLOATS, kept: INTS, dtypes: INTS }, (node) => {
    const { inputs, size, ops, kept, dtypes } = node
    const args = [VALUES.toArg(inputs), INTS.toArg(size), ...stepArgs(node)]
    return kept.length === 1 && kept[0] === ops.length - 1
      ? { op: 'ptlite::fused', args: [...args, constant(dtypes[0] as DType)] }
      : { op: 'ptlite::fused_results', args: [...args, INTS.toArg(kept), INTS.toArg(dtypes)] }
  }),
  attention: kind(
    {
      query: VALUE,
      key: VALUE,
      value: VALUE,
      mask: OPTIONAL_VALUE,
      scale: FLOAT,
      causal: FLAG,
      /** A row that sees no key is 0. */
      safe: FLAG,
      /** The result has rows in front of heads in memory. */
      rowsFirst: FLAG,
      /** Of rows of integers of 8 bits, [..., keys, 1]. */
      keyScales: optional(OPTIONAL_VALUE, null),
      valueScales: optional(OPTIONAL_VALUE, null),
    },
    ({ query, key, value: values, mask, scale, causal, safe, rowsFirst, keyScales, valueScales }) => ({
      op: 'ptlite::attention',
      args: [
        ...[query, key, values].map(value),
        ...[idOf(mask), constant(new Float(scale)), constant(causal), constant(safe), constant(rowsFirst)],
        ...[keyScales, valueScales].map(idOf),
      ],
    }),
  ),
  /** Rotary position embedding of the first `rotated` elements of rows; the result has these strides. */
  rotary: kind(
    { input: VALUE, cos: VALUE, sin: VALUE, rotated: INT, interleaved: FLAG, strides: INTS },
    ({ input, cos, sin, rotated, interleaved, strides }) => ({
      op: 'ptlite::rotary',
      args: [value(input), value(cos), value(sin), constant(rotated), constant(interleaved), INTS.toArg(strides)],
    }),
  ),
  /** Quantizes into channels-last memory. */
  quantize: kind({ input: VALUE, scale: FLOAT, zeroPoint: INT, dtype: INT }, ({ input, scale, zeroPoint, dtype }) => ({
    op: 'ptlite::quantize_channels_last',
    args: [value(input), constant(new Float(scale)), constant(zeroPoint), constant(dtype)],
  })),
  /** Looks each byte of a quantized tensor up; the result has these strides. */
  lookup: kind(
    { input: VALUE, table: VALUE, strides: INTS, scale: FLOAT, zeroPoint: INT, dtype: INT },
    ({ input, table, strides, scale, zeroPoint, dtype }) => ({
      op: 'ptlite::quantized_table',
      args: [value(input), value(table), INTS.toArg(strides), constant(new Float(scale)), constant(zeroPoint), constant(dtype)],
    }),
  ),
  /** Brings images into blocks, or `channels` channels out of them: as planes, or as rows [n, h, w, c]. */
  reorder: kind({ input: VALUE, to: word('blocks', 'planes', 'rows'), channels: INT }, ({ input, to, channels }) => {
    if (to === 'blocks') return { op: 'ptlite::to_blocked', args: [value(input)] }
    return { op: to === 'rows' ? 'ptlite::blocked_rows' : 'ptlite::from_blocked', args: [value(input), constant(channels)] }
  }),
  /** Over blocks. */
  pool: kind(
    {
      input: VALUE,
      mode: word('max', 'average'),
      kernel: INTS,
      stride: INTS,
      padding: INTS,
      /** Of maxima. */
      dilation: optional(INTS, [], (list) => list.length === 0),
      ceil: FLAG,
      /** Of averages. */
      countPadding: FLAG,
    },
    ({ input, mode, kernel, stride, padding, dilation, ceil, countPadding }) => {
      const args = [value(input), ...[kernel, stride, padding].map(INTS.toArg)]
      return mode === 'max'
        ? { op: 'ptlite::blocked_max_pool', args: [...args, INTS.toArg(dilation), constant(ceil)] }
        : { op: 'ptlite::blocked_avg_pool', args: [...args, constant(ceil), constant(countPadding)] }
    },
  ),
  /** Of all pixels in blocks, as [n, c, 1, 1]. */
  mean: kind({ input: VALUE, channels: INT }, ({ input, channels }) => ({
    op: 'ptlite::blocked_mean',
    args: [value(input), constant(channels)],
  })),
  /** Squeeze and excitation: a number for each channel of images in blocks. */
  gates: kind({ input: VALUE, channels: INT, squeeze: LAYER, excite: LAYER }, ({ input, channels, squeeze, excite }) => ({
    op: 'ptlite::blocked_gates',
    args: [value(input), constant(channels), ...weights(squeeze), ...weights(excite), constant(squeeze.gate), constant(excite.gate)],
  })),
  /** A pointwise filter in blocks, times a factor per input channel. */
  scaledFilter: kind({ filter: VALUE, factors: VALUE }, ({ filter, factors }) => ({
    op: 'ptlite::blocked_scaled_filter',
    args: [value(filter), value(factors)],
  })),
  /** Filters of 16 bits in blocks, as Winograd's algorithm multiplies them. */
  transformedFilter: kind({ filter: VALUE }, ({ filter }) => ({ op: 'ptlite::winograd_blocked_filter', args: [value(filter)] })),
  /** A depthwise convolution and the pointwise ones around it, over blocks. */
  bottleneck: kind(
    {
      input: VALUE,
      expand: OPTIONAL_LAYER,
      depthwise: LAYER,
      project: OPTIONAL_LAYER,
      residual: OPTIONAL_VALUE,
      stride: INT,
      padding: INT,
    },
    ({ input, expand, depthwise, project, residual, stride, padding }) => {
      const layers = [expand, depthwise, project]
      const limits = layers.flatMap((layer) => {
        const { min, max } = layer?.clamp ?? NO_CLAMP
        return [min, max]
      })
      return {
        op: 'ptlite::blocked_bottleneck',
        args: [
          ...[value(input), ...layers.flatMap(weights), idOf(residual), constant(stride), constant(padding)],
          ...[constant(layers.map((layer) => layer?.gate ?? 0)), FLOATS.toArg(limits)],
        ],
      }
    },
  ),
}
