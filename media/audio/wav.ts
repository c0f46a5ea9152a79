import { fieldsOf } from '../../runtime/bytes.js'
import { PtliteError } from '../../runtime/error.js'
import { isArrayBuffer } from '../../runtime/intrinsics.js'
import { reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { tensor } from '../../src/values/tensor.js'

/** What a recording holds. */
export interface Sound {
  /** float32[channels, frames], from -1 to 1. */
  readonly samples: Tensor<'float32'>
  /** Frames a second. */
  readonly sampleRate: number
}

const PCM = 1
const FLOAT = 3
const EXTENSIBLE = 0xfffe
const OTHERS: Readonly<Record<number, string>> = { 2: 'ADPCM', 6: 'A-law', 7: 'mu-law', 0x11: 'ADPCM', 0x55: 'MP3', 0xff: 'AAC' }

interface Format {
  readonly isFloat: boolean
  readonly channels: number
  readonly sampleRate: number
  readonly bits: number
}

/**
 * Reads the bytes of a WAV file: PCM of 8, 16, 24 or 32 bits, or float32 or float64. Integers are divided by their largest, as torchaudio does. Throws
 * INVALID_FILE for damaged files, UNSUPPORTED_FILE for other formats.
 */
export function readWav(bytes: Uint8Array | ArrayBuffer): Sound {
  return reading(() => {
    if (bytes instanceof Uint8Array) return soundOf(fieldsOf(bytes))
    if (isArrayBuffer(bytes)) return soundOf(new DataView(bytes))
    throw new PtliteError('INVALID_ARGUMENT', `expected the bytes of a WAV file, a Uint8Array or an ArrayBuffer, found ${kindOf(bytes)}`)
  })
}

function soundOf(view: DataView): Sound {
  const textAt = (at: number): string => String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)))
  if (view.byteLength < 12 || textAt(0) !== 'RIFF' || textAt(8) !== 'WAVE') throw damaged('it does not begin with RIFF and WAVE')
  let format: Format | undefined
  for (let at = 12; at + 8 <= view.byteLength;) {
    const [name, length] = [textAt(at), view.getUint32(at + 4, true)]
    const start = at + 8
    if (name === 'fmt ') format = formatOf(view, start, length)
    if (name === 'data') {
      if (format === undefined) throw damaged('its samples come before their format')
      // who writes to a pipe does not know how many there will be
      return decoded(view, start, Math.min(length === 0 ? Infinity : length, view.byteLength - start), format)
    }
    at = start + length + (length % 2)
  }
  throw damaged('it has no samples')
}

function formatOf(view: DataView, at: number, length: number): Format {
  if (length < 16 || at + length > view.byteLength) throw damaged('its format is cut off')
  const tag = view.getUint16(at, true)
  const code = tag === EXTENSIBLE && length >= 26 ? view.getUint16(at + 24, true) : tag
  const [channels, sampleRate, bits] = [view.getUint16(at + 2, true), view.getUint32(at + 4, true), view.getUint16(at + 14, true)]
  const isRead = (code === PCM && [8, 16, 24, 32].includes(bits)) || (code === FLOAT && [32, 64].includes(bits))
  if (!isRead) {
    const name = code === PCM || code === FLOAT ? `samples of ${bits} bits` : (OTHERS[code] ?? `format ${code}`)
    throw new PtliteError('UNSUPPORTED_FILE', `WAV files with ${name} cannot be read; convert it: ffmpeg -i FILE -c:a pcm_s16le OUT.wav`)
  }
  if (channels === 0 || sampleRate === 0) throw damaged(`it has ${channels} channels and ${sampleRate} frames a second`)
  return { isFloat: code === FLOAT, channels, sampleRate, bits }
}

function decoded(view: DataView, start: number, length: number, { isFloat, channels, sampleRate, bits }: Format): Sound {
  const bytes = bits / 8
  const frames = Math.floor(length / (bytes * channels))
  const data = new Float32Array(channels * frames)
  const read = readerOf(view, bits, isFloat)
  for (let c = 0; c < channels; c++)
    for (let i = 0, at = start + c * bytes; i < frames; i++, at += bytes * channels) data[c * frames + i] = read(at)
  return { samples: tensor(data, [channels, frames]), sampleRate }
}

function readerOf(view: DataView, bits: number, isFloat: boolean): (at: number) => number {
  if (isFloat) return bits === 32 ? (at) => view.getFloat32(at, true) : (at) => view.getFloat64(at, true)
  if (bits === 8) return (at) => (view.getUint8(at) - 128) / 128
  if (bits === 16) return (at) => view.getInt16(at, true) / 2 ** 15
  if (bits === 24) return (at) => (view.getInt8(at + 2) * 65536 + view.getUint16(at, true)) / 2 ** 23
  return (at) => view.getInt32(at, true) / 2 ** 31
}

function damaged(what: string): PtliteError {
  return new PtliteError('INVALID_FILE', `damaged WAV file: ${what}`)
}
