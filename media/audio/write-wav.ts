import { check, PtliteError } from '../../runtime/error.js'
import { oneOf, reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { readOptions } from '../../src/values/read-options.js'
import { checkRate, checkSamples } from './checks.js'

/** How samples are written. */
export interface WavOptions {
  /** Integers of 16 or 24 bits, or the samples as they are. Default 'int16'. */
  readonly format?: 'int16' | 'int24' | 'float32' | undefined
}

const TESTS = { format: oneOf('int16', 'int24', 'float32') } satisfies Record<keyof WavOptions, unknown>

const HEADER = 44
const BITS = { int16: 16, int24: 24, float32: 32 } as const
/** What the lengths in the file can say. */
const MOST_BYTES = 2 ** 32 - HEADER
const MOST_CHANNELS = 2 ** 16 - 1

/**
 * The bytes of a WAV file of samples float32[frames] or float32[channels, frames], `sampleRate` of them a second. Integers are the samples times their largest, rounded, and those from -1 to
 * 1 that a file can hold: `readWav` gives them back. Throws INVALID_ARGUMENT for other tensors and rates, LIMIT_EXCEEDED for more than 4 GB.
 */
export function writeWav(samples: Tensor, sampleRate: number, options: WavOptions = {}): Uint8Array {
  return reading(() => {
    checkSamples(samples)
    checkRate(sampleRate, 'the rate')
    const { format = 'int16' } = readOptions(options, TESTS, 'writeWav()')
    const [channels, frames] = samples.shape.length === 1 ? [1, samples.shape[0]!] : (samples.shape as [number, number])
    check(channels <= MOST_CHANNELS, () => `a WAV file has at most ${MOST_CHANNELS} channels, found ${kindOf(samples)}`)
    const bytes = channels * frames * (BITS[format] / 8)
    if (bytes > MOST_BYTES)
      throw new PtliteError('LIMIT_EXCEEDED', `a WAV file holds at most ${MOST_BYTES} bytes of samples; these are ${bytes}`)
    const view = new DataView(new ArrayBuffer(HEADER + bytes + (bytes % 2)))
    writeHeader(view, channels, sampleRate, format, bytes)
    const data = samples.data() as Float32Array
    const write = writerOf(view, format)
    const step = BITS[format] / 8
    for (let i = 0, at = HEADER; i < frames; i++) for (let c = 0; c < channels; c++, at += step) write(at, data[c * frames + i]!)
    return new Uint8Array(view.buffer)
  })
}

function writeHeader(view: DataView, channels: number, sampleRate: number, format: keyof typeof BITS, bytes: number): void {
  const text = (at: number, letters: string): void => [...letters].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)))
  const frame = (channels * BITS[format]) / 8
  text(0, 'RIFF')
  view.setUint32(4, view.byteLength - 8, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, format === 'float32' ? 3 : 1, true)
  view.setUint16(22, channels, true)
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, Math.min(sampleRate * frame, 2 ** 32 - 1), true)
  view.setUint16(32, Math.min(frame, 2 ** 16 - 1), true)
  view.setUint16(34, BITS[format], true)
  text(36, 'data')
  view.setUint32(40, bytes, true)
}

function writerOf(view: DataView, format: keyof typeof BITS): (at: number, sample: number) => void {
  if (format === 'float32') return (at, sample) => view.setFloat32(at, sample, true)
  if (format === 'int16') return (at, sample) => view.setInt16(at, whole(sample, 2 ** 15), true)
  return (at, sample) => {
    const value = whole(sample, 2 ** 23)
    view.setUint16(at, value & 0xffff, true)
    view.setInt8(at + 2, value >> 16)
  }
}

/** Of NaN 0. */
function whole(sample: number, scale: number): number {
  return Math.max(-scale, Math.min(scale - 1, Math.round(sample * scale))) || 0
}
