import { type DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { CompiledKind, CompiledNode, CompiledOf } from './compiled.js'
import { type Clamp, FLOATS, INTS, type Layer, NO_CLAMP, type PostOps, type Steps, VALUES } from './fields.js'
import { type Arg, constant, type GraphNode, NONE, value, type ValueId } from './graph.js'

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

/** Arguments for the steps that an operator goes on with. */
function postArgs(post: PostOps | null): Arg[] {
  const { operands, ...steps } = post ?? NO_POST
  return [VALUES.toArg(operands), ...stepArgs(steps)]
}

const NO_POST: PostOps = { operands: [], ops: [], values: [], numbers: [] }

/** Filter and bias. */
const weights = (layer: Layer | null): Arg[] => [idOf(layer?.filter ?? null), idOf(layer?.bias ?? null)]

const CALLS: { readonly [K in CompiledKind]: (node: CompiledOf<K>) => Call } = {
  convolution: (node) => {
    const { layout, strategy, groups, perGroup, post } = node
    const operands = [value(node.input), value(node.filter), idOf(node.bias)]
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
  linear: ({ input, weight, bias, form, clamp, post }) => {
    const operands = [value(input), value(weight), idOf(bias)]
    const steps = postArgs(post)
    return form === 'dense'
      ? { op: 'ptlite::linear', args: [...operands, ...bounds(clamp), ...steps] }
      : { op: 'ptlite::sparse_linear', args: [...operands, constant(form), ...bounds(clamp), ...steps] }
  },
  matmul: ({ left, right, post }) => ({ op: 'ptlite::matmul', args: [value(left), value(right), ...postArgs(post)] }),
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
