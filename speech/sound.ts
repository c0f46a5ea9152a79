import { checkRate, checkSamples } from '../media/audio/checks.js'
import { resampleAudio } from '../media/audio/resample.js'
import type { Sound } from '../media/audio/wav.js'
import { check } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { tensor } from '../src/values/tensor.js'

/** What is transcribed: a recording as `readWav` gives it, or samples at the rate that the model takes, [frames] or [channels, frames]. */
export type SpeechInput = Sound | Tensor | Float32Array

/** Eighteen hours. */
const MOST_SAMPLES = 2 ** 30

/** The mean of all channels, float32[frames], at `rate`. Throws INVALID_ARGUMENT for what is no sound. */
export function monoOf(sound: SpeechInput, rate: number): Tensor {
  return reading(() => {
    const { samples, sampleRate } = read(sound, rate)
    checkSamples(samples)
    checkRate(sampleRate, 'sampleRate')
    const [frames, most] = [samples.shape.at(-1)!, MOST_SAMPLES]
    check(
      (frames / sampleRate) * rate <= most,
      () => `transcribe(): a recording of ${frames} frames at ${sampleRate} a second is longer than ${most} samples at ${rate}; cut it`,
    )
    const mono = samples.shape.length === 1 ? samples : samples.shape[0] === 1 ? samples.select(0, 0) : samples.mean(0)
    return sampleRate === rate ? mono.clone() : resampleAudio(mono, sampleRate, rate)
  })
}

function read(sound: unknown, rate: number): { readonly samples: Tensor; readonly sampleRate: number } {
  if (sound instanceof Tensor) return { samples: sound as Tensor, sampleRate: rate }
  if (Object.prototype.toString.call(sound) === '[object Float32Array]') {
    const samples = sound as Float32Array
    check(samples.length > 0, () => 'expected at least one sample, found none')
    return { samples: tensor(samples, [samples.length]), sampleRate: rate }
  }
  const isSound = typeof sound === 'object' && sound !== null && 'samples' in sound && 'sampleRate' in sound
  check(isSound, () => `transcribe(): expected a sound, { samples, sampleRate } as of readWav(), or samples, found ${kindOf(sound)}`)
  return sound as Sound
}
