import { check } from '../../error.js'
import { readTensor } from '../../tensor/data.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { isComplex, realOf } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { expand, narrow, slice, squeeze, transpose, unsqueeze, view } from '../../tensor/view.js'
import { copyInto } from '../support/copy.js'
import { filled, zerosOf } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { complex } from './complex-views.js'

/** Sums of windows are divided by; below this the signal cannot be told. */
const LEAST_ENVELOPE = 1e-11

/** The window, ones where none is given, in the middle of `nFft` zeros. */
function taperOf(window: Tensor | null, width: number, nFft: number, like: Tensor): Tensor {
  const given = window ?? filled([width], realOf(like.type), 1)
  check(
    given.dim === 1 && given.shape[0] === width,
    () => `istft: expected a window of ${width} elements, found [${given.shape.join(', ')}]`,
  )
  if (width === nFft) return given
  const whole = zerosOf([nFft], given.type)
  copyInto(narrow(whole, 0, Math.floor((nFft - width) / 2), width), given)
  return whole
}

/** Sums windows [channel, window, sample] of a signal where they overlap: [channel, length]. */
function overlapAdded(windows: Tensor, length: number, hop: number): Tensor {
  const columns = transpose(windows, 1, 2)
  const samples = columns.shape[1]!
  const image = at.col2im(columns, [1, length], [1, samples], [1, 1], [0, 0], [1, hop])
  return view(image, [image.shape[0]!, length])
}

/** torch.istft: the signal whose short-time Fourier transform is nearest to the spectrum (least squares). */
export const istft: Composite['istft'] = (
  self,
  nFft,
  hopLength,
  winLength,
  window,
  center,
  normalized,
  onesided,
  length,
  returnComplex,
) => {
  const pairs = isComplex(self.type) ? viewAsReal(self) : self
  check(self.numel > 0 && (pairs.dim === 3 || pairs.dim === 4) && pairs.shape.at(-1) === 2, () =>
    `istft: expected a spectrum of shape (batch,) frequency, frame, found [${self.shape.join(', ')}] of ${self.dtype}`,
  ) // prettier-ignore
  const spectrum = viewAsComplex(transpose(pairs.dim === 3 ? unsqueeze(pairs, 0) : pairs, 1, 2))
  const [, frames, bins] = spectrum.shape as [number, number, number]
  const hop = hopLength ?? Math.floor(nFft / 4)
  const width = winLength ?? nFft
  const half = onesided ?? bins !== nFft
  const wanted = half ? Math.floor(nFft / 2) + 1 : nFft
  check(bins === wanted, () => `istft: expected ${wanted} frequencies for n_fft ${nFft}, found ${bins}`)
  check(width > 0 && width <= nFft, () => `istft: expected a win_length from 1 to ${nFft}, found ${width}`)
  check(hop > 0 && hop <= width, () => `istft: expected a hop_length from 1 to ${width}, found ${hop}`)
  check(!(returnComplex && half), () => 'istft: a complex signal needs a spectrum with both sides')

  const taper = taperOf(window, width, nFft, spectrum)
  check(!isComplex(taper.type), () => 'istft: expected a real window')
  const mode = normalized ? 1 : 2
  const total = nFft + hop * (frames - 1)
  const start = center ? Math.floor(nFft / 2) : 0
  const end = length !== null ? start + length : center ? total - start : total
  const kept = (signal: Tensor): Tensor => slice(signal, 1, start, end)
  const squares = expand(at.mul_Tensor(taper, taper), [1, frames, nFft])
  const envelope = kept(overlapAdded(squares, total, hop))
  check(
    !readTensor(envelope).some((x) => Math.abs(Number(x)) < LEAST_ENVELOPE),
    () => 'istft: the windows leave a part of the signal uncovered',
  )
  const signalOf = (windows: Tensor): Tensor => {
    const signal = at.div_Tensor(kept(overlapAdded(at.mul_Tensor(windows, taper), total, hop)), envelope)
    const whole = end > total ? padded(signal, end - start) : signal
    return pairs.dim === 3 ? squeeze(whole, 0) : whole
  }
  if (returnComplex) {
    const pieces = at._fft_c2c(spectrum, [2], mode, false)
    return complex(signalOf(partOf(pieces, 0)), signalOf(partOf(pieces, 1)))
  }
  const oneSide = half ? spectrum : slice(spectrum, 2, 0, Math.floor(nFft / 2) + 1)
  return signalOf(at._fft_c2r(oneSide, [2], mode, nFft))
}

/** The channels with zeros behind them. */
function padded(signal: Tensor, length: number): Tensor {
  const whole = zerosOf([signal.shape[0]!, length], signal.type)
  copyInto(narrow(whole, 1, 0, signal.shape[1]!), signal)
  return whole
}
