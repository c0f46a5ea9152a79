import { melSpectrogram } from '../../media/audio/mel-spectrogram.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { tensor } from '../../src/values/tensor.js'

/** Samples from one frame to the next, at 16000 a second. */
export const HOP = 160
export const RATE = 16000
/** Samples of a transform, and the least that there must be. */
const TRANSFORM = 400

/** What networks of Whisper's kind take of a recording: `mels` energies for each frame. */
export interface Features {
  readonly frames: number
  /** Frames from `start` on, at most `size` of them, as [1, mels, width], filled up with zeros. */
  window(start: number, size: number, width: number): Tensor
}

/**
 * Logarithms of the energies at 100 frames a second, no more than 8 below the largest, then (x + 4) / 4: WhisperFeatureExtractor of transformers over the whole recording, which has no
 * last frame.
 */
export function featuresOf(samples: Tensor, mels: number): Features {
  const data = samples.data() as Float32Array
  const filled = new Float32Array(Math.max(TRANSFORM, Math.ceil(data.length / HOP) * HOP))
  filled.set(data)
  const spectrogram = melSpectrogram(tensor(filled, [filled.length]), {
    ...{ sampleRate: RATE, nFft: TRANSFORM, hopLength: HOP, nMels: mels, fMax: RATE / 2 },
    ...{ melScale: 'slaney', norm: 'slaney', log: 'log10' },
  })
  const steps = spectrogram.shape[1]!
  const frames = steps - 1
  const values = spectrogram.data() as Float32Array
  let top = -Infinity
  for (let m = 0; m < mels; m++) for (let i = 0; i < frames; i++) top = Math.max(top, values[m * steps + i]!)
  spectrogram.dispose()
  const floor = Math.fround(top - 8)
  return {
    frames,
    window: (start, size, width) => {
      const found = new Float32Array(mels * width)
      for (let m = 0; m < mels; m++)
        for (let i = 0; i < size; i++) found[m * width + i] = (Math.max(values[m * steps + start + i]!, floor) + 4) / 4
      return tensor(found, [1, mels, width])
    },
  }
}
