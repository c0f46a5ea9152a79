import { check, PtliteError } from '../../../error.js'
import * as kernels from '../../../native/generated/kernels.js'
import { DType, isFloating } from '../../../tensor/dtype.js'
import { MemoryFormat } from '../../../tensor/options.js'
import { suggestedFormat } from '../../../tensor/view-strides.js'
import { channelsLastStrides } from '../../../tensor/shape.js'
import { empty, emptyStrided, type Tensor } from '../../../tensor/tensor.js'
import { asSuggested, contiguousOf, laidOutAsSuggested, suggestedStrides } from '../../support/copy.js'

export type ResampleModeName = keyof typeof kernels.ResampleMode

/** Input steps per output element of each spatial dim. */
export function stepsOf(input: readonly number[], output: readonly number[], scales: readonly (number | null)[], align: boolean): number[] {
  return input.map((size, d) => {
    const out = output[d]!
    if (align) return out > 1 ? (size - 1) / (out - 1) : 0
    const scale = scales[d]
    return scale !== null && scale !== undefined && scale > 0 ? 1 / scale : size / out
  })
}

/** One, two or three numbers as depth, height, width. */
function asVolume(list: readonly number[], filler: number): number[] {
  const lead = 3 - list.length
  const volume = [filler, filler, filler]
  for (let d = 0; d < list.length; d++) volume[lead + d] = list[d]!
  return volume
}

/**
 * Resamples the last `output.length` dims of N x C x ... to `output`. `scales` are the factors that the caller asked
 * for, null where only sizes are given.
 */
export function resample(
  operator: string,
  mode: ResampleModeName,
  self: Tensor,
  output: readonly number[],
  scales: readonly (number | null)[],
  align: boolean,
): Tensor {
  const spatial = output.length
  const nearest = mode === 'nearest' || mode === 'nearest_exact'
  check(self.dim === spatial + 2, () => `${operator}: expected ${spatial + 2} dimensions, found ${self.dim}`)
  check(self.shape.slice(1).every((n) => n > 0), () => `${operator}: expected elements in all dimensions but the batch, found [${self.shape.join(', ')}]`) // prettier-ignore
  check(output.every((n) => n > 0), () => `${operator}: expected output sizes above 0, found [${output.join(', ')}]`) // prettier-ignore
  if (!nearest && !isFloating(self.type))
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected a floating point dtype, found ${self.dtype}`)
  const input = self.shape.slice(2)
  const shape = [self.shape[0]!, self.shape[1]!, ...output]
  const frame = {
    in_sizes: asVolume(input, 1),
    out_sizes: asVolume(output, 1),
    scales: asVolume(stepsOf(input, output, scales, align && !nearest), 1),
  }
  if (nearest) return moveNearest(self, shape, mode === 'nearest_exact', frame)
  const out = empty(shape, self.type)
  if (out.numel === 0) return out
  const data = contiguousOf(self)
  const fields = {
    mode: kernels.ResampleMode[mode],
    align_corners: align ? 1 : 0,
    planes: shape[0]! * shape[1]!,
    in_sizes: frame.in_sizes,
    out_sizes: frame.out_sizes,
    scales: frame.scales,
    in: data.address,
    out: out.address,
  }
  if (self.type === DType.bfloat16 && (mode === 'linear' || mode === 'cubic')) {
    // PyTorch's linear kernel of channels-last tensors sums in float32
    kernels.resample_bfloat16({ ...fields, spatial, once: mode === 'linear' && isChannelsLast(self) ? 1 : 0 })
  } else kernels.resample({ ...fields, dtype: self.type })
  return laidOutAsSuggested(out, self)
}

function isChannelsLast(t: Tensor): boolean {
  if (t.dim < 4) return false
  const strides = channelsLastStrides(t.shape)
  return t.strides.every((s, d) => s === strides[d] || t.shape[d] === 1)
}

interface Volume {
  readonly in_sizes: number[]
  readonly out_sizes: number[]
  readonly scales: number[]
}

function moveNearest(self: Tensor, shape: number[], exact: boolean, frame: Volume): Tensor {
  const out = emptyStrided(shape, suggestedStrides(self, shape), self.type, self.quant)
  if (out.numel === 0) return out
  const last = suggestedFormat(self.shape, self.strides) !== MemoryFormat.contiguous
  const data = asSuggested(self)
  const [batch, channels] = shape
  kernels.resample_nearest({
    exact: exact ? 1 : 0,
    // PyTorch's channels-last kernel of plain tensors alone does not let scales change sizes that stay or double
    snap: isChannelsLast(self) && !exact && self.quant === null ? 1 : 0,
    item_size: self.itemSize,
    planes: last ? batch! : batch! * channels!,
    inner: last ? channels! : 1,
    in_sizes: frame.in_sizes,
    out_sizes: frame.out_sizes,
    scales: frame.scales,
    in: data.address,
    out: out.address,
  })
  return out
}

/** Output sizes and factors of a `.vec` overload, which takes exactly one of the two. */
export function sizesOf(
  operator: string,
  input: Tensor,
  outputSize: readonly number[] | null,
  factors: readonly number[] | null,
): { output: number[]; scales: (number | null)[] } {
  const spatial = input.dim - 2
  check((outputSize === null) !== (factors === null), () => `${operator}: expected either output_size or scale_factors`)
  const given = (outputSize ?? factors)!
  check(
    given.length === spatial,
    () => `${operator}: expected ${spatial} ${outputSize === null ? 'scale factors' : 'output sizes'}, found ${given.length}`,
  )
  if (outputSize !== null) return { output: [...outputSize], scales: outputSize.map(() => null) }
  return { output: factors!.map((f, d) => Math.floor(input.shape[d + 2]! * f)), scales: [...factors!] }
}
