// A language model that is served to clients who stream, and often go away in the middle of a text, for as long as is said: every piece of text is checked against
// generations of the library, one at a time; the resident set has to be flat, and a text that nobody waits for any more must end with the step that it is at.
//   node serve/bench/soak-text.mjs [--minutes 10] [--clients 8] [--slots 8] [--model FOLDER] [--out FILE]
// FOLDER: a model.pt2 with its tokenizer's files; examples/chat without it. FILE: what was measured, as JSON. Exits with 1 where one of these is not so.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { generate, loadModule, loadTokenizer } from 'ptlite'
import { Child } from './child.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '8' },
    slots: { type: 'string', default: '8' },
    model: { type: 'string', default: fileURLToPath(new URL('../../examples/chat', import.meta.url)) },
    out: { type: 'string' },
  },
})
const CLIENTS = Number(values.clients)
/** How often clients go away, and what share of their texts. */
const GONE = 0.4
const QUESTIONS = [
  'What does an owl eat?',
  'Where does a fox live?',
  'Tell me a story about a hare.',
  'Tell me a story about an owl.',
  'Tell me a story.',
  'What colour is the sky?',
  'What is two plus three?',
  'What does a bear eat?',
]
const SAMPLINGS = [
  { temperature: 0 },
  { temperature: 0, frequency_penalty: 0.5 },
  { temperature: 0.8, top_p: 0.9, seed: 11 },
  { temperature: 1, seed: 5 },
]
const MOST = 96

const random = (n) => Math.floor(Math.random() * n)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const at = (all, share) => all.toSorted((a, b) => a - b)[Math.floor(share * (all.length - 1))] ?? 0

/** What the library gives for each question and each way of sampling, one at a time. */
async function expectedTexts() {
  const read = (name) => JSON.parse(readFileSync(join(values.model, name), 'utf8'))
  const model = await loadModule(join(values.model, 'model.pt2'))
  const tokenizer = await loadTokenizer({ tokenizer: read('tokenizer.json'), config: read('tokenizer_config.json') })
  const texts = []
  for (const question of QUESTIONS)
    for (const { temperature, top_p: topP, seed, frequency_penalty: frequencyPenalty } of SAMPLINGS) {
      const options = { temperature, topP, seed, frequencyPenalty, tokenizer, stop: tokenizer.endTokens, maxTokens: MOST }
      let text = ''
      for await (const piece of generate(model, tokenizer.chat([{ role: 'user', content: question }]), options)) text += piece.text
      texts.push(text)
    }
  model.dispose()
  return texts
}

const texts = await expectedTexts()
const folder = mkdtempSync(join(tmpdir(), 'ptlite-soak-text-'))
mkdirSync(join(folder, 'chat', '1'), { recursive: true })
cpSync(join(values.model, 'model.pt2'), join(folder, 'chat', '1', 'model.pt2'))
for (const name of ['tokenizer.json', 'tokenizer_config.json']) cpSync(join(values.model, name), join(folder, 'chat', name))
writeFileSync(join(folder, 'chat', 'config.json'), JSON.stringify({ text: { slots: Number(values.slots) } }))
const server = await Child.start('ptlite', './text-server.mjs', folder, JSON.stringify({ workers: 1, logLevel: 'fatal' }))

const wrong = []
const counts = { whole: 0, gone: 0, pieces: 0 }
const firstPieces = []

/** Streams a text; `most`: goes away behind so many pieces. */
async function stream(which, most = Infinity) {
  const controller = new AbortController()
  const began = performance.now()
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'chat', stream: true, max_tokens: MOST, ...SAMPLINGS[which % SAMPLINGS.length] },
      messages: [{ role: 'user', content: QUESTIONS[Math.floor(which / SAMPLINGS.length)] }],
    }),
    signal: controller.signal,
  })
  if (answer.status !== 200) return void wrong.push({ which, status: answer.status, body: (await answer.text()).slice(0, 300) })
  let text = ''
  let pieces = 0
  let isDone = false
  for await (const data of events(answer.body)) {
    isDone = data === '[DONE]'
    const piece = isDone ? '' : (JSON.parse(data).choices[0]?.delta.content ?? '')
    if (piece === '') continue
    if (pieces++ === 0) firstPieces.push(performance.now() - began)
    text += piece
    if (pieces >= most) break
  }
  counts.pieces += pieces
  const isWhole = pieces < most
  if (!isWhole) controller.abort()
  counts[isWhole ? 'whole' : 'gone']++
  if (isWhole ? text !== texts[which] || !isDone : !texts[which].startsWith(text))
    wrong.push({ which, text, expected: texts[which], isDone })
}

/** What stands behind `data:` in each event. */
async function* events(body) {
  let rest = ''
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split('\n\n')
    rest = lines.pop()
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice(6)
  }
}

async function client(until, share) {
  while (performance.now() < until) {
    try {
      await stream(random(texts.length), Math.random() < share ? 1 + random(30) : Infinity)
    } catch (error) {
      wrong.push({ what: 'connection', error: String(error.cause ?? error) })
      await pause(100)
    }
  }
}

/** Pieces a second of so many clients who read to the end. */
async function rate(clients, seconds) {
  const [before, start] = [counts.pieces, performance.now()]
  await Promise.all(Array.from({ length: clients }, () => client(start + 1000 * seconds, 0)))
  return ((counts.pieces - before) * 1000) / (performance.now() - start)
}

await rate(1, 3)
const rates = { one: [], all: [] }
for (let round = 0; round < 3; round++) {
  rates.one.push(await rate(1, 4))
  rates.all.push(await rate(CLIENTS, 4))
}

const until = performance.now() + Number(values.minutes) * 60_000
const [resident, heap, eventLoop] = [[], [], []]
async function watch() {
  while (performance.now() < until) {
    await pause(1000)
    const found = await server.ask()
    resident.push(found.resident / 2 ** 20)
    eventLoop.push(found.eventLoop)
    if (resident.length % 15 === 0) heap.push((await collected()).heapUsed / 2 ** 20)
  }
}

/** The server's memory once it has collected its garbage, and what became of texts that were given up. */
async function collected() {
  const answer = new Promise((resolve) => server.process.once('message', resolve))
  server.process.send('collect')
  return answer
}

firstPieces.length = 0
const counted = { ...counts }
await Promise.all([...Array.from({ length: CLIENTS }, () => client(until, GONE)), watch()])
await pause(500)
const last = await collected()
const status = await server.end()
rmSync(folder, { recursive: true })

const [first, second] = [resident.slice(Math.floor(resident.length / 10))].flatMap((settled) => {
  const half = Math.floor(settled.length / 2)
  return [at(settled.slice(0, half), 0.5), at(settled.slice(half), 0.5)]
})
const byMinute = (all, each) =>
  Array.from({ length: Math.floor(all.length / each) }, (_, i) => at(all.slice(each * i, each * (i + 1)), 0.5))
const found = {
  texts: { whole: counts.whole - counted.whole, gone: counts.gone - counted.gone, pieces: counts.pieces - counted.pieces },
  wrong: wrong.length,
  residentByMinute: byMinute(resident, 60).map(Math.round),
  resident: { firstHalf: Math.round(first), secondHalf: Math.round(second), collected: Math.round(last.resident / 2 ** 20) },
  heapByMinute: byMinute(heap, 4).map((each) => Number(each.toFixed(1))),
  stepsBehindCancel: last.steps,
  unended: last.unended,
  firstPieceMs: { p50: Number(at(firstPieces, 0.5).toFixed(1)), p99: Number(at(firstPieces, 0.99).toFixed(1)) },
  eventLoopP99Ms: { median: Number(at(eventLoop, 0.5).toFixed(1)), worst: Number(at(eventLoop, 1).toFixed(1)) },
  piecesPerSecond: { oneClient: Math.round(at(rates.one, 0.5)), allClients: Math.round(at(rates.all, 0.5)) },
  status,
}
console.log(found)
for (const each of wrong.slice(0, 10)) console.log(each)
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify({ ...found, resident }, null, 1)}\n`)
const isLate = Object.keys(last.steps).some((steps) => Number(steps) > 1)
process.exitCode = wrong.length > 0 || second > 1.1 * first || isLate || last.unended > 0 ? 1 : 0
