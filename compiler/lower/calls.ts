import { type DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { CompiledKind, CompiledNode, CompiledOf } from '../graph/compiled.js'
import { type Clamp, FLOATS, INTS, type Layer, NO_CLAMP, type PostOps, type Steps, VALUES } from '../graph/fields.js'
import { type Arg, constant, type GraphNode, NONE, value, type ValueId } from '../graph/graph.js'

/** An operator and its arguments. */
export interface Call {
  readonly op: string
  readonly args: readonly Arg[]
}

/** The call that computes a node. */
export function callOf(node: GraphNode): Call {
  return node.kind === 'operator' ? node : compiledCall(node)
}

function compiledCall<K extends CompiledKind>(node: CompiledNode & { kind: K }): Call {
  return (CALLS[node.kind] as (node: CompiledNode) => Call)(node)
}

const idOf = (id: ValueId | null): Arg => (id === null ? NONE : value(id))
const bounds = ({ min, max }: Clamp): Arg[] => [constant(new Float(min)), constant(new Float(max))]
const stepArgs = ({ ops, values, numbers }: Steps): Arg[] => [INTS.toArg(ops), INTS.toArg(values), FLOATS.toArg(numbers)]

/** The operator itself, or the one that goes on with element-wise steps. */
function withPost(op: string, args: readonly Arg[], post: PostOps | null): Call {
  if (post === null) return { op, args }
  return { op: `${op}_post`, args: [...args, VALUES.toArg(post.operands), ...stepArgs(post)] }
}

/** Filter and bias. */
const weights = (layer: Layer | null): Arg[] => [idOf(layer?.filter ?? null), idOf(layer?.bias ?? null)]

const CALLS: { readonly [K in CompiledKind]: (node: CompiledOf<K>) => Call } = {
  convolution: (node) => {
    const { layout, strategy, groups, perGroup, post } = node
    const operands = [value(node.input), value(node.filter), idOf(node.bias)]
    const settings = [node.stride, node.padding, node.dilation].map(INTS.toArg)
    const clamp = bounds(node.clamp)
    if (layout === 'planes') {
      return strategy === 'sparse'
        ? withPost('ptlite::sparse_convolution', [...operands, ...clamp], post)
        : withPost('ptlite::convolution', [...operands, ...settings, constant(groups), ...clamp], post)
    }
    if (strategy === 'depthwise') return withPost('ptlite::blocked_depthwise', [...operands, ...settings, ...clamp], post)
    const summands = [...operands, idOf(node.residual)]
    switch (strategy) {
      case 'winograd':
        return withPost('ptlite::winograd_convolution', [...summands, settings[1]!, ...clamp], post)
      case 'sparse':
        return withPost('ptlite::sparse_blocked_convolution', [...summands, ...clamp], post)
      case 'grouped': {
        const shape = [groups, ...perGroup].map((n) => constant(n))
        return withPost('ptlite::blocked_grouped_convolution', [...summands, ...settings, ...shape, ...clamp], post)
      }
      default:
        return withPost('ptlite::blocked_convolution', [...summands, ...settings, ...clamp], post)
    }
  },
  linear: ({ input, weight, bias, form, clamp, post }) => {
    const operands = [value(input), value(weight), idOf(bias)]
    return form === 'dense'
      ? withPost('ptlite::linear', [...operands, ...bounds(clamp)], post)
      : withPost('ptlite::sparse_linear', [...operands, constant(form), ...bounds(clamp)], post)
  },
  matmul: ({ left, right, post }) => {
    const args = [value(left), value(right)]
    return post === null ? { op: 'aten::matmul', args } : withPost('ptlite::matmul', args, post)
  },
  chain: (node) => {
    const { inputs, size, ops, kept, dtypes } = node
    const args = [VALUES.toArg(inputs), INTS.toArg(size), ...stepArgs(node)]
    return kept.length === 1 && kept[0] === ops.length - 1
      ? { op: 'ptlite::fused', args: [...args, constant(dtypes[0] as DType)] }
      : { op: 'ptlite::fused_results', args: [...args, INTS.toArg(kept), INTS.toArg(dtypes)] }
  },
  attention: ({ query, key, value: values, mask, scale, causal, safe, rowsFirst }) => ({
    op: 'ptlite::attention',
    args: [
      ...[query, key, values].map(value),
      ...[idOf(mask), constant(new Float(scale)), constant(causal), constant(safe), constant(rowsFirst)],
    ],
  }),
  rotary: ({ input, cos, sin, rotated, interleaved, strides }) => ({
    op: 'ptlite::rotary',
    args: [value(input), value(cos), value(sin), constant(rotated), constant(interleaved), INTS.toArg(strides)],
  }),
  quantize: ({ input, scale, zeroPoint, dtype }) => ({
    op: 'ptlite::quantize_channels_last',
    args: [value(input), constant(new Float(scale)), constant(zeroPoint), constant(dtype)],
  }),
  lookup: ({ input, table, strides, scale, zeroPoint, dtype }) => ({
    op: 'ptlite::quantized_table',
    args: [value(input), value(table), INTS.toArg(strides), constant(new Float(scale)), constant(zeroPoint), constant(dtype)],
  }),
  reorder: ({ input, to, channels }) => {
    if (to === 'blocks') return { op: 'ptlite::to_blocked', args: [value(input)] }
    return { op: to === 'rows' ? 'ptlite::blocked_rows' : 'ptlite::from_blocked', args: [value(input), constant(channels)] }
  },
  pool: ({ input, mode, kernel, stride, padding, dilation, ceil, countPadding }) => {
    const args = [value(input), ...[kernel, stride, padding].map(INTS.toArg)]
    return mode === 'max'
      ? { op: 'ptlite::blocked_max_pool', args: [...args, INTS.toArg(dilation), constant(ceil)] }
      : { op: 'ptlite::blocked_avg_pool', args: [...args, constant(ceil), constant(countPadding)] }
  },
  mean: ({ input, channels }) => ({ op: 'ptlite::blocked_mean', args: [value(input), constant(channels)] }),
  gates: ({ input, channels, squeeze, excite }) => ({
    op: 'ptlite::blocked_gates',
    args: [value(input), constant(channels), ...weights(squeeze), ...weights(excite), constant(squeeze.gate), constant(excite.gate)],
  }),
  scaledFilter: ({ filter, factors }) => ({ op: 'ptlite::blocked_scaled_filter', args: [value(filter), value(factors)] }),
  bottleneck: ({ input, expand, depthwise, project, residual, stride, padding }) => {
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
}
