import t from 'tap'
import { readWav, tensor, writeWav } from '../../src/index.js'

const SAMPLES = [0, 0.5, -0.25, 1, -1, 1.5, -7, 2 ** -15, 2 ** -23, NaN]

t.test('what is written is read again', (t) => {
  for (const [format, step] of [
    ['int16', 2 ** -15],
    ['int24', 2 ** -23],
  ] as const) {
    // prettier-ignore
    const mono = readWav(writeWav(tensor(SAMPLES, [SAMPLES.length], 'float32'), 16000, { format }))
    t.equal(mono.sampleRate, 16000)
    t.strictSame(mono.samples.shape, [1, SAMPLES.length])
    for (const [i, value] of (mono.samples.toArray() as number[][])[0]!.entries()) {
      const wanted = Math.max(-1, Math.min(1 - step, SAMPLES[i]! || 0))
      t.ok(Math.abs(value - wanted) <= step / 2, `${format}: ${value} for ${SAMPLES[i]}`)
    }
  }
  const stereo = tensor([[0.1, 0.2, 3], [-0.5, 0.7, 0]]) // prettier-ignore
  const found = readWav(writeWav(stereo, 44100, { format: 'float32' }))
  t.strictSame([found.samples.toArray(), found.sampleRate], [stereo.toArray(), 44100])
  const bytes = writeWav(stereo, 8000)
  t.equal(bytes.length, 44 + 12)
  t.equal(Buffer.from(bytes.subarray(0, 4)).toString(), 'RIFF')
  t.equal(new DataView(bytes.buffer).getUint32(4, true), bytes.length - 8)
  t.strictSame(writeWav(readWav(bytes).samples, 8000), bytes)
  t.equal(writeWav(tensor([0.5]), 8000, { format: 'int24' }).length % 2, 0, 'chunks have an even number of bytes')
  t.end()
})

t.test('what it is not for', (t) => {
  const code = 'INVALID_ARGUMENT'
  const write =
    (...args: unknown[]): (() => unknown) =>
    () =>
      (writeWav as (...args: unknown[]) => unknown)(...args)
  t.throws(write([0.5], 8000), { code })
  t.throws(write(tensor([1], [1], 'int64'), 8000), { code })
  t.throws(write(tensor([0.5]), 0), { code })
  t.throws(write(tensor([0.5]), 8000, { format: 'mp3' }), { code, message: /'int16' or 'int24' or 'float32'/ })
  t.end()
})
