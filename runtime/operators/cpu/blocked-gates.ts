import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { floats, lanes } from './blocked.js'
import { BLOCK, blocksOf } from '../../shapes/blocks.js'
import type { CPU } from '../support/generated/interfaces.js'

const NUMBER_OF_GATES = Object.keys(kernels.Gate).length

/** True for a number of the enumeration Gate. */
export const isGate = (gate: number): boolean => gate >= 0 && gate < NUMBER_OF_GATES

/** A pointwise filter [blocks, 1, 1, inputs, 16] from `blocked_filter`, with its bias. */
export function pointwiseLayer(
  operator: string,
  filter: Tensor,
  bias: Tensor | null,
  inputs: number,
): { blocks: number; weight: number; bias: number } {
  const w = floats(operator, 'filter', filter, 5, BLOCK)
  const [blocks, height, width, channels] = w.shape as [number, number, number, number]
  check(
    height === 1 && width === 1 && channels === inputs,
    () => `${operator}: expected a pointwise filter of ${inputs} channels, found shape [${w.shape.join(', ')}]`,
  )
  return { blocks, weight: w.address, bias: lanes(operator, bias, blocks) }
}

/**
 * Squeeze and excitation (Hu et al., "Squeeze-and-Excitation Networks"): one factor per image and channel, as [n, c / 16, 1, 1, 16], from the
 * means of [n, c / 16, h, w, 16]. `activation` and `gate` are numbers of the enumeration Gate.
 */
export const blocked_gates: CPU['blocked_gates'] = (self, channels, squeeze, squeezeBias, excite, exciteBias, activation, gate) => {
  const operator = 'ptlite::blocked_gates'
  const x = floats(operator, 'tensor', self, 5, BLOCK)
  const [batch, blocks, height, width] = x.shape as [number, number, number, number]
  check(
    channels > 0 && blocksOf(channels) === blocks && height * width > 0,
    () => `${operator}: expected ${channels} channels of at least one pixel, found shape [${x.shape.join(', ')}]`,
  )
  check([activation, gate].every(isGate), () => `${operator}: no gates ${activation} and ${gate}`)
  const hidden = excite.dim === 5 ? excite.shape[3]! : 0
  const first = pointwiseLayer(operator, squeeze, squeezeBias, channels)
  const second = pointwiseLayer(operator, excite, exciteBias, hidden)
  check(
    hidden > 0 && first.blocks === blocksOf(hidden) && second.blocks === blocks,
    () =>
      `${operator}: expected filters from ${channels} channels and back, found [${squeeze.shape.join(', ')}], [${excite.shape.join(', ')}]`,
  )
  const result = empty([batch, blocks, 1, 1, BLOCK], DType.float32)
  if (batch === 0) return result
  kernels.blocked_gates({
    batch,
    channels,
    hidden,
    activation,
    gate,
    pixels: height * width,
    input: x.address,
    squeeze: first.weight,
    squeeze_bias: first.bias,
    excite: second.weight,
    excite_bias: second.bias,
    output: result.address,
  })
  return result
}

/** A filter [blocks, 1, 1, channels, 16] whose inputs are multiplied by factors [1, channels / 16, 1, 1, 16]: the product moves off the pixels. */
export function blocked_scaled_filter(filter: Tensor, factors: Tensor): Tensor {
  const operator = 'ptlite::blocked_scaled_filter'
  const w = floats(operator, 'filter', filter, 5, BLOCK)
  const by = floats(operator, 'factors', factors, 5, BLOCK)
  const [blocks, height, width, inputs] = w.shape as [number, number, number, number]
  check(
    height === 1 && width === 1 && by.numel === by.shape[1]! * BLOCK && by.shape[1] === blocksOf(inputs),
    () => `${operator}: factors of shape [${by.shape.join(', ')}] do not fit a pointwise filter of shape [${w.shape.join(', ')}]`,
  )
  const result = empty([...w.shape], DType.float32)
  if (w.numel > 0) kernels.blocked_scaled_filter({ blocks, inputs, filter: w.address, factors: by.address, output: result.address })
  return result
}
