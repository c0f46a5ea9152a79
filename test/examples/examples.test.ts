import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { example, printed } from './run-example.js'

t.test('a picture is classified', (t) => {
  t.match(printed('classify/main.mjs'), /triangle\.jpg: triangle 9\d\.\d %, (circle|cross|square) \d\.\d %\n$/)
  t.end()
})

t.test('a command is heard', (t) => {
  t.match(printed('speech/main.mjs'), /twice\.wav: twice 9\d\.\d %\n$/)
  t.end()
})

t.test('a server answers by its threads, and ends when it is told to', async (t) => {
  const server = spawn(process.execPath, [example('server/server.mjs'), '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => server.kill('SIGKILL'))
  const [line] = (await once(server.stdout, 'data')) as [Buffer]
  const url = `http://localhost:${/\d+/.exec(String(line))![0]}/`
  const ask = async (body: Uint8Array): Promise<{ status: number; answer: unknown }> => {
    const response = await fetch(url, { method: 'POST', body })
    return { status: response.status, answer: await response.json() }
  }
  const pixels = (seed: number): Uint8Array => Uint8Array.from({ length: 64 }, (_, i) => (i * seed) % 17)
  const answers = await Promise.all(Array.from({ length: 24 }, (_, i) => ask(pixels(i % 3))))
  for (const [i, { status, answer }] of answers.entries()) {
    t.equal(status, 200)
    const { digit, probabilities } = answer as { digit: number; probabilities: number[] }
    t.equal(probabilities.length, 10)
    t.equal(Math.max(...probabilities), probabilities[digit])
    // a thread's first calls are interpreted, later ones are not
    const same = answers[i % 3]!.answer as { probabilities: number[] }
    t.ok(
      probabilities.every((p, k) => Math.abs(p - same.probabilities[k]!) < 1e-4),
      'the same of the same pixels',
    )
  }
  t.strictSame(await ask(new Uint8Array(65)), { status: 400, answer: { error: 'POST 64 bytes' } })
  server.kill('SIGTERM')
  const [code] = (await once(server, 'exit')) as [number]
  t.equal(code, 0)
})
