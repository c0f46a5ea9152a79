import { check, PtliteError } from '../../../error.js'
import * as kernels from '../../../native/generated/kernels.js'
import { DType } from '../../../tensor/dtype.js'
import { emptyStrided, type Tensor, viewOf } from '../../../tensor/tensor.js'
import { three } from '../../../shapes/convolution.js'
import { checkInput, pooledSizes, type PoolSettings } from '../../cpu/support/pool.js'
import { perTensor } from '../../support/quantization.js'
import { fiveStrides, stridesLike } from './layout.js'

const ONES: readonly number[] = [1, 1, 1]
const ZEROS: readonly number[] = [0, 0, 0]

function checkEightBits(t: Tensor, operator: string): void {
  if (t.type === DType.qint32) throw new PtliteError('UNSUPPORTED_DTYPE', `${operator}: expected an 8-bit tensor, found qint32`)
}

interface Windows {
  readonly mode: 'average' | 'max'
  readonly sizes: readonly number[]
  /** Absent for adaptive windows. */
  readonly settings?: PoolSettings
  readonly clampEdges?: boolean
  readonly includePadding?: boolean
  /** In place of the number of elements; 0 for that. */
  readonly divisor?: number
}

/** The input keeps its layout: channels innermost or row-major. */
function launch(t: Tensor, operator: string, w: Windows): Tensor {
  const { zeroPoint } = perTensor(t, operator)
  checkEightBits(t, operator)
  const count = w.sizes.length
  const batched = t.dim === count + 2
  const x = batched ? t : viewOf(t, [1, ...t.shape], [0, ...t.strides])
  const shape = [...x.shape.slice(0, 2), ...w.sizes]
  const out = emptyStrided(shape, stridesLike(x, shape), t.type, t.quant)
  if (out.numel > 0) {
    kernels.quantized_pool({
      mode: kernels.QuantizedPoolMode[w.mode],
      dtype: t.type,
      adaptive: w.settings === undefined ? 1 : 0,
      include_padding: w.includePadding === true ? 1 : 0,
      clamp_edges: w.clampEdges === true ? 1 : 0,
      zero_point: zeroPoint,
      divisor: w.divisor ?? 0,
      batch: shape[0]!,
      channels: shape[1]!,
      in_size: three(x.shape.slice(2), 1),
      out_size: three(w.sizes, 1),
      in_strides: fiveStrides(x.strides),
      out_strides: fiveStrides(out.strides),
      kernel: three(w.settings?.window ?? ONES, 1),
      stride: three(w.settings?.stride ?? ONES, 1),
      padding: three(w.settings?.padding ?? ZEROS, 0),
      dilation: three(w.settings?.dilation ?? ONES, 1),
      in: x.address,
      out: out.address,
    })
  }
  return batched ? out : viewOf(out, shape.slice(1), out.strides.slice(1))
}

/**
 * Largest integer of each window. For quint8 images without ceil mode PyTorch has QNNPACK do it, whose dilated windows read the
 * edge of the input where they leave it.
 */
export function quantizedMaxPool(t: Tensor, operator: string, settings: PoolSettings): Tensor {
  checkInput(operator, t, settings.window.length)
  const sizes = pooledSizes(operator, t.shape, settings)
  return launch(t, operator, { mode: 'max', sizes, settings, clampEdges: t.type === DType.quint8 && !settings.ceil && sizes.length === 2 })
}

/**
 * Mean of each window from exact sums. For quint8 images without ceil mode PyTorch has QNNPACK do it, which always counts
 * the padding and takes no divisor.
 */
export function quantizedAveragePool(
  t: Tensor,
  operator: string,
  settings: PoolSettings,
  includePadding: boolean,
  divisor: number | null,
): Tensor {
  checkInput(operator, t, settings.window.length)
  const sizes = pooledSizes(operator, t.shape, settings)
  check(divisor !== 0, () => `${operator}: expected a divisor other than 0`)
  const likeQnnpack = t.type === DType.quint8 && !settings.ceil && t.dim === 4
  const counting = likeQnnpack ? { includePadding: true, divisor: 0 } : { includePadding, divisor: divisor ?? 0 }
  return launch(t, operator, { mode: 'average', sizes, settings, ...counting })
}

/** Means of windows that split the input into `sizes`, as even as they can be. */
export function quantizedAdaptivePool(t: Tensor, operator: string, count: number, sizes: readonly number[]): Tensor {
  checkInput(operator, t, count, count)
  check(
    sizes.length === count && sizes.every((size) => size >= 0),
    () => `${operator}: expected ${count} output sizes of 0 or more, found [${sizes.join(', ')}]`,
  )
  return launch(t, operator, { mode: 'average', sizes })
}
