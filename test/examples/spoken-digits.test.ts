import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { example, printed } from './run-example.js'

/** What make.py had its voices say, which the network has not heard. */
const SAID: Readonly<Record<string, string>> = {
  'pin.wav': 'three one four two',
  'code.wav': 'nine zero six eight five',
  'call.wav': 'seven five zero one nine two',
}
const HEADER = 44

interface Utterances {
  add(chunk: Float32Array, chance: number): { readonly samples: Float32Array; readonly isWhole: boolean } | null
  end(): { readonly samples: Float32Array; readonly isWhole: boolean } | null
}
const { Utterances } = (await import(new URL('../../examples/spoken-digits/utterances.mjs', import.meta.url).href)) as {
  Utterances: new (rate: number) => Utterances
}

/** Texts by file, and the times of words. */
function read(text: string): Map<string, { readonly text: string; readonly starts: readonly number[] }> {
  const lines = [...text.matchAll(/^(\S+): (.*?) {2}\(([\d., ]*) s\)$/gm)]
  return new Map(lines.map(([, file, said, starts]) => [file!, { text: said!, starts: starts!.split(', ').map(Number) }]))
}

for (const beams of ['1', '16'])
  t.test(`digits of voices that were not learnt are read, with ${beams} beams`, (t) => {
    const found = read(printed('spoken-digits/main.mjs', ['--beams', beams]))
    for (const [file, said] of Object.entries(SAID)) {
      const { text, starts } = found.get(file)!
      t.equal(text, said, file)
      t.equal(starts.length, said.split(' ').length)
      t.ok(starts.every((start, i) => i === 0 || start > starts[i - 1]! + 0.05), 'words follow each other') // prettier-ignore
    }
    t.end()
  })

t.test('a stream is read as it comes, whatever the parts', async (t) => {
  const samples = readFileSync(example('spoken-digits/pin.wav')).subarray(HEADER)
  const child = spawn(process.execPath, [example('spoken-digits/main.mjs'), '-'], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  // noise of the same room, before anybody speaks
  const quiet = Buffer.concat(Array.from({ length: 10 }, () => samples.subarray(0, 3200)))
  const twice = Buffer.concat([quiet, samples, quiet, samples])
  const half = 2 * quiet.length + samples.length
  for (let at = 0; at < half; at += 3001) child.stdin.write(twice.subarray(at, Math.min(half, at + 3001)))
  for (let tries = 0; text === '' && tries < 600; tries++) await setTimeout(50)
  t.equal(text, `${SAID['pin.wav']}\n`, 'printed before the stream has ended')
  child.stdin.end(twice.subarray(half))
  await new Promise((resolve) => child.stdout.once('end', resolve))
  t.equal(text, `${SAID['pin.wav']}\n`.repeat(2))
})

t.test('an utterance has what came before it, is given while it goes on, and ends behind a pause', (t) => {
  const utterances = new Utterances(1000)
  const chunk = (value: number): Float32Array => new Float32Array(100).fill(value)
  for (let i = 0; i < 10; i++) t.equal(utterances.add(chunk(i), 0.1), null)
  const found = Array.from({ length: 12 }, (_, i) => utterances.add(chunk(10 + i), i < 8 ? 0.9 : 0.1))
  const lengths = found.map((each) => (each === null ? 0 : each.samples.length))
  t.strictSame(lengths, [0, 0, 0, 0, 800, 0, 0, 0, 0, 1300, 0, 0])
  t.equal(found[4]!.samples[0], 7, 'begins 0.3 s before')
  const last = utterances.add(chunk(22), 0.1)!
  t.same([last.isWhole, last.samples.length], [true, 1600])
  for (let i = 0; i < 20; i++) t.equal(utterances.add(chunk(0), 0.1), null)
  t.equal(utterances.end(), null, 'nothing is under way')
  utterances.add(chunk(1), 0.9)
  t.equal(utterances.end()!.samples.length, 100)
  t.equal(utterances.end(), null)
  const single = [utterances.add(new Float32Array(32), 0.9), ...Array.from({ length: 20 }, () => utterances.add(new Float32Array(32), 0))]
  t.ok(single.filter((each) => each?.isWhole).length === 0, 'a click is none')
  t.end()
})
