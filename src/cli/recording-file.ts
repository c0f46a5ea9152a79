import { melSpectrogram, type MelOptions, readWav, resampleAudio, type Tensor } from '../index.js'

/** How recordings become arguments. */
export interface RecordingOptions {
  /** Frames a second that they are brought to; as they are without. */
  readonly rate?: number | undefined
  /** Their spectrogram in place of their samples; names of MelOptions with values, not yet checked. */
  readonly mel?: Readonly<Record<string, unknown>> | undefined
}

/** Whether these bytes are a WAV file's. */
export function isRecording(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  return start.startsWith('RIFF') && start.endsWith('WAVE')
}

/**
 * float32[1, frames], the mean of the channels, or float32[1, nMels, steps], its spectrogram. Throws as readWav, resampleAudio and melSpectrogram.
 */
export function readRecording(bytes: Uint8Array, { rate, mel }: RecordingOptions): Tensor {
  const { samples, sampleRate } = readWav(bytes)
  const mono = samples.shape[0] === 1 ? samples : samples.mean(0, true)
  const resampled = rate === undefined || rate === sampleRate ? mono : resampleAudio(mono, sampleRate, rate)
  return mel === undefined ? resampled : melSpectrogram(resampled, { ...mel, sampleRate: rate ?? sampleRate } as MelOptions)
}
