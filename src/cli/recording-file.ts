import { readWav, resampleAudio, type Tensor } from '../index.js'

/** Whether these bytes are a WAV file's. */
export function isRecording(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  return start.startsWith('RIFF') && start.endsWith('WAVE')
}

/** float32[1, frames], the mean of the channels, at `rate` frames a second where one is given. Throws as readWav and resampleAudio. */
export function readRecording(bytes: Uint8Array, rate: number | undefined): Tensor {
  const { samples, sampleRate } = readWav(bytes)
  const mono = samples.shape[0] === 1 ? samples : samples.mean(0, true)
  return rate === undefined || rate === sampleRate ? mono : resampleAudio(mono, sampleRate, rate)
}
