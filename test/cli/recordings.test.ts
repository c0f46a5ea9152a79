import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readArguments } from '../../src/cli/arguments.js'
import { resampleAudio, type Tensor, tensor } from '../../src/index.js'
import { formatChunk, wavFile } from '../audio/wav-file.js'

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
  const [faster] = (await readArguments({ files: [file], pictures: {}, rate: 16000 })) as [Tensor]
  t.strictSame(faster.toArray(), resampleAudio(mono, 8000, 16000).toArray())
  writeFileSync(file, 'RIFF1234WAVE')
  await t.rejects(readArguments({ files: [file], pictures: {} }), {
    code: 'INVALID_FILE',
    message: /a\.wav: damaged WAV file: it has no samples/,
  })
})
