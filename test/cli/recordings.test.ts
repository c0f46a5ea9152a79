import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readArguments } from '../../src/cli/arguments.js'
import { resampleAudio, type Tensor, tensor } from '../../src/index.js'
import { formatChunk, wavFile } from '../audio/wav-file.js'
import { ptlite } from './in-process.js'

const speech = (name: string): string => fileURLToPath(new URL(`../../examples/speech/${name}`, import.meta.url))

t.test('recordings are arguments: one channel, at the rate that is asked for', async (t) => {
  const samples = Int16Array.from({ length: 400 }, (_, i) => ((i * 7919) % 65536) - 32768)
  const file = join(t.testdir({}), 'a.wav')
  writeFileSync(file, wavFile(formatChunk(1, 2, 8000, 16), ['data', new Uint8Array(samples.buffer)]))
  const mono = tensor(
    Float32Array.from({ length: 200 }, (_, i) => (samples[2 * i]! + samples[2 * i + 1]!) / 65536),
    [1, 200],
  )
  const [plain] = (await readArguments({ files: [file], pictures: {} })) as [Tensor]
  t.strictSame(plain.toArray(), mono.toArray())
  const [faster] = (await readArguments({ files: [file], pictures: {}, recordings: { rate: 16000 } })) as [Tensor]
  t.strictSame(faster.toArray(), resampleAudio(mono, 8000, 16000).toArray())
  writeFileSync(file, 'RIFF1234WAVE')
  await t.rejects(readArguments({ files: [file], pictures: {} }), {
    code: 'INVALID_FILE',
    message: /a\.wav: damaged WAV file: it has no samples/,
  })
})

t.test('--mel makes spectrograms of them', async (t) => {
  const run = (mel: string): ReturnType<typeof ptlite> =>
    ptlite(
      'run',
      speech('whistles.ptl'),
      speech('twice.wav'),
      '--rate',
      '16000',
      '--mel',
      mel,
      '--labels',
      speech('labels.txt'),
      '--top',
      '1',
    )
  const { status, stdout, stderr } = await run('nMels=32,nFft=512,winLength=400,hopLength=160,log=natural')
  t.equal(status, 0, stderr)
  t.match(stdout, /^ 9\d\.\d %  twice\n$/)
  for (const mel of ['32', 'nMels', 'nMels=', 'nMels=32,', 'sampleRate=8000', 'nMels=3 2'])
    t.match(await run(mel), { status: 2, stderr: /--mel: expected options of melSpectrogram/ }, mel)
  t.match(await run('bands=32'), { status: 1, stderr: /twice\.wav: .*bands/ })
  t.match(await run('nMels=many'), { status: 1, stderr: /expected nMels to be a whole number/ })
})
