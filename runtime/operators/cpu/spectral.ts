import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { type DType, isComplex, isFloating } from '../../tensor/dtype.js'
import { promoteTypes } from '../../tensor/promote.js'
import { Complex } from '../../tensor/scalar.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { view } from '../../tensor/view.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { filled, zerosOf } from '../support/make.js'
import type { CPU } from '../support/generated/interfaces.js'
import { add_out, mul_out } from './binary.js'
import { constant_pad_nd, pad } from './padding.js'

/** The window in the middle of `nFft` zeros. */
function fullWindow(window: Tensor | null, nFft: number, length: number, type: DType): Tensor {
  const given = window === null ? filled([length], type, 1) : contiguousOf(castTo(window, type))
  if (length === nFft) return given
  const whole = zerosOf([nFft], type)
  copyInto(viewOf(whole, [length], [1], Math.floor((nFft - length) / 2)), given)
  return whole
}

/**
 * torch.stft of real signals: complex (batch,) frequency, frame, or the same with a last dimension of parts. Frames lie side by side where the signal
 * has n_fft values; with `alignToWindow` where it has those of the window, zeros standing for what is missing at the ends.
 */
export const stft: CPU['stft'] = (self, nFft, hopLength, winLength, window, normalized, onesided, returnComplex, alignToWindow = null) => {
  if (!isFloating(self.type) && !isComplex(self.type)) {
    throw new PtliteError('INVALID_DTYPE', `stft: expected a floating point or complex dtype, found ${self.dtype}`)
  }
  const hop = hopLength ?? Math.floor(nFft / 4)
  const width = winLength ?? nFft
  checkRank(self)
  const length = self.shape[self.dim - 1]!
  check(nFft > 0 && nFft <= length, () => `stft: expected n_fft from 1 to the signal's length ${length}, found ${nFft}`)
  check(hop > 0, () => `stft: expected a hop_length above 0, found ${hop}`)
  check(width > 0 && width <= nFft, () => `stft: expected a win_length from 1 to ${nFft}, found ${width}`)
  check(window === null || (window.dim === 1 && window.numel === width), () =>
    `stft: expected a window of ${width} elements, found [${window!.shape.join(', ')}]`,
  ) // prettier-ignore
  if (isComplex(self.type) || (window !== null && isComplex(window.type))) {
    check(onesided !== true, () => 'stft: spectra of complex signals and windows are not symmetric; onesided cannot be True')
    const half = (x: Tensor, w: Tensor | null): Tensor => stft(x, nFft, hopLength, winLength, w, normalized, false, true, alignToWindow)
    const spectrum = ofParts(self, (x) => (window === null ? half(x, null) : ofParts(window, (w) => half(x, w))))
    return returnComplex === false ? viewAsReal(spectrum) : spectrum
  }
  const type = window === null ? self.type : promoteTypes(self.type, window.type)
  const batch = self.dim === 2 ? self.shape[0]! : 1
  const margin = alignToWindow === true ? Math.floor((nFft - width) / 2) : 0
  const signal = margin > 0 ? constant_pad_nd(self, [margin, margin], 0) : self
  const padded = length + 2 * margin
  const frames = 1 + Math.floor((length - (alignToWindow === true ? width : nFft)) / hop)
  check((frames - 1) * hop + nFft <= padded, () =>
    `stft: the last of ${frames} frames of ${nFft} values aligned to a window of ${width} ends outside of the signal of ${length}`,
  ) // prettier-ignore
  const frequencies = onesided === false ? nFft : Math.floor(nFft / 2) + 1
  const out = empty([...(self.dim === 2 ? [batch] : []), frequencies, frames, 2], type)
  if (out.numel === 0) return pairsOrComplex(out, returnComplex)
  const data = contiguousOf(castTo(signal, type))
  const taper = fullWindow(window, nFft, width, type)
  kernels.short_time_fourier({
    dtype: type,
    batch,
    length: padded,
    frames,
    n_fft: nFft,
    // of one frame it may be any number
    hop: Math.min(hop, padded),
    frequencies,
    scale: normalized ? 1 / Math.sqrt(nFft) : 1,
    in: data.address,
    window: taper.address,
    out: out.address,
  })
  return pairsOrComplex(out, returnComplex)
}

/** What `f`, which is linear and gives complex numbers, makes of real or complex ones. */
function ofParts(x: Tensor, f: (part: Tensor) => Tensor): Tensor {
  if (!isComplex(x.type)) return f(x)
  return add_out(f(partOf(x, 0)), mul_out(f(partOf(x, 1)), new Complex(0, 1)), 1)
}

function checkRank(self: Tensor): void {
  check(self.dim === 1 || self.dim === 2, () => `stft: expected 1 or 2 dimensions, found ${self.dim}`)
}

/** torch.stft with the signal padded by n_fft / 2 at both ends where `center`. */
export const stft_center: CPU['stft_center'] = (
  self,
  nFft,
  hopLength,
  winLength,
  window,
  center,
  padMode,
  normalized,
  onesided,
  returnComplex,
  alignToWindow,
) => {
  check(!center || alignToWindow === null, () => 'stft: align_to_window can only be given where center is False')
  if (!center) return stft(self, nFft, hopLength, winLength, window, normalized, onesided, returnComplex, alignToWindow)
  checkRank(self)
  const half = Math.floor(nFft / 2)
  // modes other than constant pad images, which have three dimensions with their batch
  const lead = [1, 1].slice(self.dim - 1)
  const padded = pad(view(self, [...lead, ...self.shape]), [half, half], padMode, null)
  const signal = view(padded, padded.shape.slice(lead.length))
  return stft(signal, nFft, hopLength, winLength, window, normalized, onesided, returnComplex, alignToWindow)
}

/** Complex numbers as pairs of reals, or as what they are where that is asked for. */
function pairsOrComplex(pairs: Tensor, returnComplex: boolean | null): Tensor {
  return returnComplex === true ? viewAsComplex(pairs) : pairs
}
