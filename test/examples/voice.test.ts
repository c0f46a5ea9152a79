import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { example, printed } from './run-example.js'

/** When voices are heard in talk.wav, as make.py prints it: in seconds. */
const SPOKEN: readonly (readonly [from: number, to: number])[] = [
  [0.8, 2.26],
  [2.9, 3.71],
  [4.2, 5.55],
]
const HEADER = 44

function segmentsOf(text: string): readonly (readonly [from: number, to: number])[] {
  return [...text.matchAll(/^([\d.]+) s to ([\d.]+) s$/gm)].map(([, from, to]) => [Number(from), Number(to)] as const)
}

t.test('voices of a recording are heard, and nothing else', (t) => {
  const text = printed('voice/main.mjs')
  const found = segmentsOf(text)
  t.equal(found.length, SPOKEN.length)
  for (const [i, [from, to]] of SPOKEN.entries()) {
    t.ok(Math.abs(found[i]![0] - from) < 0.15, `from ${from} s, found ${found[i]![0]}`)
    t.ok(Math.abs(found[i]![1] - to) < 0.15, `to ${to} s, found ${found[i]![1]}`)
  }
  t.match(text, /187 chunks of 32 ms, each in [\d.]+ ms \(median\), [\d.]+ ms \(99 of 100\)\n$/)
  t.end()
})

t.test('a stream is heard as it comes, whatever the parts', async (t) => {
  const samples = readFileSync(example('voice/talk.wav')).subarray(HEADER)
  const child = spawn(process.execPath, [example('voice/main.mjs'), '-'], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  // until after the first segment, in parts of odd lengths
  const half = 2 * 16000 * 2.8
  for (let at = 0; at < half; at += 3001) child.stdin.write(samples.subarray(at, Math.min(half, at + 3001)))
  for (let tries = 0; text === '' && tries < 600; tries++) await setTimeout(50)
  t.equal(segmentsOf(text).length, 1, 'printed before the stream has ended')
  child.stdin.end(samples.subarray(half))
  await new Promise((resolve) => child.stdout.once('end', resolve))
  t.strictSame(segmentsOf(text), segmentsOf(printed('voice/main.mjs')))
})
