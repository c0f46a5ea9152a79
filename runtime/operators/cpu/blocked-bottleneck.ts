import { check } from '../../error.js'
import { cacheSizes } from '../../native/caches.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty } from '../../tensor/tensor.js'
import { isGate, pointwiseLayer } from './blocked-gates.js'
import { floats, lanes, outputSizes, residualOf } from './blocked.js'
import { BLOCK, blocksOf } from '../../shapes/blocks.js'
import { bottleneckRows, fitsBottleneck } from '../../shapes/tiles.js'
import type { CPU } from '../support/generated/interfaces.js'

/**
 * A pointwise, a depthwise and a pointwise convolution of [n, c / 16, h, w, 16] in one call, which keeps no more of what lies between them than
 * fits the second-level cache. `expand` or `project` may be left out; filters come from `blocked_filter`. `gates` are numbers of the
 * enumeration Gate, `limits` the lowest and highest result of each layer before its gate. `residual` is added to the last sums.
 */
export const blocked_bottleneck: CPU['blocked_bottleneck'] = (
  input,
  expand,
  expandBias,
  depthwise,
  depthwiseBias,
  project,
  projectBias,
  residual,
  stride,
  padding,
  gates,
  limits,
) => {
  const operator = 'ptlite::blocked_bottleneck'
  const x = floats(operator, 'input', input, 5, BLOCK)
  const w = floats(operator, 'filter', depthwise, 5, BLOCK)
  const [batch, planes, ...spatial] = x.shape.slice(0, 4) as [number, number, number, number]
  const [blocks, kernel, width, one] = w.shape as [number, number, number, number]
  const inChannels = expand === null ? 0 : expand.dim === 5 ? expand.shape[3]! : -1
  const channels = project?.dim === 5 ? project.shape[3]! : blocks * BLOCK
  check(
    kernel === width &&
      one === 1 &&
      blocks > 0 &&
      (expand === null ? planes === blocks : inChannels > 0 && planes === blocksOf(inChannels)),
    () => `${operator}: filters of shape [${w.shape.join(', ')}] do not fit an input of shape [${x.shape.join(', ')}]`,
  )
  check(
    [gates, limits].every((list, i) => list.length === 3 * (i + 1)) && gates.every(isGate),
    () => `${operator}: expected three gates and limits, found [${gates.join(', ')}] and [${limits.join(', ')}]`,
  )
  const out = outputSizes(operator, spatial, [kernel, kernel], [stride, stride], [padding, padding], [1, 1]) as [number, number]
  check(
    fitsBottleneck(kernel, stride, padding, out[1]),
    () => `${operator}: no kernel of ${kernel}, stride ${stride}, padding ${padding} for rows of ${out[1]}`,
  )
  const first = expand === null ? null : pointwiseLayer(operator, expand, expandBias, inChannels)
  const last = project === null ? null : pointwiseLayer(operator, project, projectBias, channels)
  check(
    blocksOf(channels) === blocks && (first === null || first.blocks === blocks) && (residual === null || last !== null),
    () => `${operator}: pointwise filters do not fit ${blocks} blocks of channels`,
  )
  const result = empty([batch, last?.blocks ?? blocks, ...out, BLOCK], DType.float32)
  const sum = residualOf(operator, residual, result)
  if (result.numel === 0) return result
  kernels.blocked_bottleneck({
    batch,
    in_channels: inChannels,
    channels,
    out_blocks: last?.blocks ?? 0,
    rows: bottleneckRows({ blocks, expands: first !== null, in: spatial, out, kernel, stride }, cacheSizes()),
    kernel,
    stride,
    padding,
    expand_gate: gates[0]!,
    depthwise_gate: gates[1]!,
    project_gate: gates[2]!,
    in: spatial,
    out,
    input: x.address,
    expand: first?.weight ?? 0,
    expand_bias: first?.bias ?? 0,
    depthwise: w.address,
    depthwise_bias: lanes(operator, depthwiseBias, blocks),
    project: last?.weight ?? 0,
    project_bias: last?.bias ?? 0,
    residual: sum,
    output: result.address,
    lo: limits.filter((_, i) => i % 2 === 0),
    hi: limits.filter((_, i) => i % 2 === 1),
  })
  return result
}
