import t from 'tap'
import { readWav } from '../../src/index.js'
import { formatChunk, wavFile } from './wav-file.js'

const bytesOf = (array: Int16Array | Int32Array | Float32Array | Float64Array): Uint8Array => new Uint8Array(array.buffer)

t.test('samples of each width', (t) => {
  const kinds: [string, Uint8Array, [string, Uint8Array], number[][]][] = [
    ['16 bits', bytesOf(Int16Array.of(-32768, 1, 32767, 0)), formatChunk(1, 2, 8000, 16), [[-1, 32767 / 32768], [1 / 32768, 0]]], // prettier-ignore
    ['8 bits', Uint8Array.of(0, 128, 255), formatChunk(1, 1, 8000, 8), [[-1, 0, 127 / 128]]],
    [
      '24 bits',
      Uint8Array.of(0, 0, 0x80, 1, 2, 3, 0xff, 0xff, 0xff),
      formatChunk(1, 1, 8000, 24),
      [[-1, 0x030201 / 2 ** 23, -1 / 2 ** 23]],
    ],
    ['32 bits', bytesOf(Int32Array.of(-(2 ** 31), 2 ** 30)), formatChunk(1, 1, 8000, 32), [[-1, 0.5]]],
    ['float32', bytesOf(Float32Array.of(0.25, -1.5)), formatChunk(3, 1, 8000, 32), [[0.25, -1.5]]],
    ['float64', bytesOf(Float64Array.of(0.25, -1.5)), formatChunk(3, 1, 8000, 64), [[0.25, -1.5]]],
    ['extensible', bytesOf(Int16Array.of(16384)), formatChunk(0xfffe, 1, 8000, 16, 1), [[0.5]]],
  ]
  for (const [name, data, format, wanted] of kinds) {
    const file = wavFile(['LIST', Uint8Array.of(1, 2, 3)], format, ['data', data])
    const { samples, sampleRate } = readWav(file)
    t.equal(sampleRate, 8000)
    t.strictSame(samples.toArray(), wanted.map((row) => [...Float32Array.from(row)]), name) // prettier-ignore
    t.strictSame(readWav(Uint8Array.from(file).buffer).samples.data(), samples.data())
  }
  t.end()
})

t.test('files that were cut off, and those that do not say how long they are', (t) => {
  const file = Buffer.from(wavFile(formatChunk(1, 1, 16000, 16), ['data', bytesOf(Int16Array.of(1, 2, 3, 4))]))
  t.strictSame(readWav(file.subarray(0, -3)).samples.shape, [1, 2])
  for (const length of [0, 0xffffffff]) {
    file.writeUInt32LE(length, 40)
    t.strictSame(readWav(file).samples.shape, [1, 4])
  }
  t.end()
})

t.test('what is refused', (t) => {
  const data: [string, Uint8Array] = ['data', new Uint8Array(4)]
  const refused = (bytes: unknown, code: string, message: RegExp): void => {
    t.throws(() => readWav(bytes as Uint8Array), { code, message })
  }
  refused('x.wav', 'INVALID_ARGUMENT', /expected the bytes of a WAV file/)
  refused(new Uint8Array(3), 'INVALID_FILE', /does not begin with RIFF and WAVE/)
  refused(wavFile(data), 'INVALID_FILE', /samples come before their format/)
  refused(wavFile(formatChunk(1, 1, 8000, 16)), 'INVALID_FILE', /it has no samples/)
  refused(wavFile(['fmt ', new Uint8Array(8)], data), 'INVALID_FILE', /its format is cut off/)
  refused(wavFile(formatChunk(1, 0, 8000, 16), data), 'INVALID_FILE', /0 channels and 8000/)
  refused(wavFile(formatChunk(6, 1, 8000, 8), data), 'UNSUPPORTED_FILE', /with A-law cannot be read/)
  refused(wavFile(formatChunk(1, 1, 8000, 12), data), 'UNSUPPORTED_FILE', /samples of 12 bits/)
  refused(wavFile(formatChunk(777, 1, 8000, 16), data), 'UNSUPPORTED_FILE', /format 777/)
  t.end()
})
