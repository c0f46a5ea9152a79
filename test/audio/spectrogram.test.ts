import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { melSpectrogram, type MelOptions, resampleAudio, type Tensor, tensor } from '../../src/index.js'

interface Some {
  readonly shape: readonly number[]
  readonly step: number
  readonly values: readonly number[]
}
interface Cases {
  readonly resample: readonly { frames: number; channels: number; before: number; after: number; result: Some }[]
  readonly mel: readonly { frames: number; channels: number; options: MelOptions; result: Some }[]
}

const cases = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8')) as Cases

/** As make.py. */
function sound(frames: number, channels: number): Tensor {
  const data = Float32Array.from({ length: frames * channels }, (_, i) => (((i * 7919 + ((i * i) % 1009) * 31) % 2001) - 1000) / 1024)
  return tensor(data, [channels, frames])
}

function agrees(t: Test, found: Tensor, { shape, step, values }: Some, tolerance: number, name: string): void {
  t.strictSame(found.shape, shape, name)
  const data = found.data() as Float32Array
  const scale = Math.max(...values.map(Math.abs))
  const worst = Math.max(...values.map((x, i) => Math.abs(x - data[i * step]!)))
  t.ok(worst <= tolerance * scale, `${name}: off by ${worst} of ${scale}`)
}

t.test('resampled as by definition', (t) => {
  for (const { frames, channels, before, after, result } of cases.resample)
    agrees(t, resampleAudio(sound(frames, channels), before, after), result, 2e-6, `${before} to ${after}`)
  const mono = sound(500, 1).reshape([500])
  t.strictSame(resampleAudio(mono, 16000, 8000).shape, [250])
  const same = resampleAudio(mono, 8000, 8000)
  t.strictSame(same.data(), mono.data())
  t.not(same, mono)
  t.end()
})

t.test("spectrograms are PyTorch's", (t) => {
  for (const { frames, channels, options, result } of cases.mel)
    agrees(t, melSpectrogram(sound(frames, channels), options), result, 2e-5, JSON.stringify(options))
  t.strictSame(melSpectrogram(sound(800, 1).reshape([800]), { sampleRate: 16000, nMels: 8 }).shape, [8, 5])
  t.end()
})

t.test('are the same whatever was asked for before', (t) => {
  const x = sound(800, 1)
  const all: readonly MelOptions[] = [
    { sampleRate: 16000, nMels: 8 },
    { sampleRate: 16000, nMels: 8, norm: 'slaney' },
    { sampleRate: 16000, nMels: 8, fMax: 4000 },
    { sampleRate: 8000, nMels: 8, melScale: 'slaney' },
  ]
  const first = all.map((options) => melSpectrogram(x, options).toArray())
  for (const i of [0, 0, 2, 1, 3, 0]) t.strictSame(melSpectrogram(x, all[i]!).toArray(), first[i])
  t.equal(new Set(first.map((energies) => JSON.stringify(energies))).size, all.length)
  t.end()
})

t.test('what is refused', (t) => {
  const x = sound(600, 1)
  const refused = (run: () => unknown, message: RegExp): void => {
    t.throws(run, { code: 'INVALID_ARGUMENT', message })
  }
  refused(() => resampleAudio(x, 44100.5, 16000), /expected the rate before to be a whole number/)
  refused(() => resampleAudio(x, 44101, 16000), /a filter of 16000 x \d+ numbers; go by a rate between/)
  refused(() => resampleAudio(x.to('float64'), 2, 1), /float32\[frames\] or float32\[channels, frames\], found float64\[1, 600\]/)
  refused(() => resampleAudio(x.reshape([1, 1, 600]), 2, 1), /found float32\[1, 1, 600\]/)
  refused(
    () => melSpectrogram(x.slice(1, 0, 200), { sampleRate: 16000 }),
    /a transform of 400 frames needs at least 201 samples, found 200/,
  )
  refused(
    () => melSpectrogram(x, { sampleRate: 16000, winLength: 401 }),
    /expected winLength to be a whole number from 1 to 400, found 401/,
  )
  refused(() => melSpectrogram(x, { sampleRate: 16000, fMin: 9000 }), /0 <= fMin < fMax, found 9000 and 8000/)
  refused(() => melSpectrogram(x, { sampleRate: 16000, power: 0 }), /power/)
  refused(() => melSpectrogram(x, { rate: 16000 } as never), /rate/)
  refused(() => melSpectrogram(x, {} as never), /expected sampleRate/)
  t.end()
})
