// Reloads, bad requests, clients that go and workers that end, for as long as is said: every answer is checked, and the resident set has to be flat.
//   node serve/bench/soak.mjs [--minutes 10]
// Exits with 1 where an answer was wrong, or the resident set grew.
import { request as httpRequest } from 'node:http'
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Child } from './child.mjs'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const until = performance.now() + Number(values.minutes) * 60_000
const fixture = (name) => fileURLToPath(new URL(`../test/fixtures/${name}.ptl`, import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'ptlite-soak-'))
const X = { name: 'x', datatype: 'FP32', shape: [-1, 64] }
add('affine', 'affine', { inputs: [X], outputs: [{ ...X, name: 'y' }], batching: { maxSize: 8, delayMs: 1 } })
add('short', 'affine', { inputs: [X], outputs: [{ ...X, name: 'y' }], inline: true })
add('steps', 'steps', {})
add('total', 'total', { stateful: { most: 16, idleMs: 2000 } })

function add(name, model, config) {
  mkdirSync(join(folder, name, '1'), { recursive: true })
  cpSync(fixture(model), join(folder, name, '1', 'model.ptl'))
  writeFileSync(join(folder, name, 'config.json'), JSON.stringify(config))
}

/** As programs that deploy files do it. */
function replace(name, model) {
  const path = join(folder, name, '1', 'model.ptl')
  cpSync(fixture(model), `${path}.new`)
  renameSync(`${path}.new`, path)
}

const server = await Child.start('ptlite', './server.mjs', folder, JSON.stringify({ workers: 2, queueSize: 32, logLevel: 'fatal' }))
const counts = {}
const wrong = []
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1)
const random = (n) => Math.floor(Math.random() * n)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function post(path, body) {
  const answer = await fetch(`${server.url}/v2/${path}`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  return { status: answer.status, body: await answer.json() }
}

const input = (shape, data, name = 'x', datatype = 'FP32') => ({ name, datatype, shape, data })

/** What is wrong with an answer, where something is. */
function check(what, answer, isRight, allowed = []) {
  if (answer.status === 200 && isRight(answer.body)) return count(what)
  if (answer.status !== 200 && allowed.includes(answer.status) && typeof answer.body.error === 'string')
    return count(`${what}: ${answer.status}`)
  wrong.push({ what, status: answer.status, body: JSON.stringify(answer.body).slice(0, 300) })
}

/** Queues may be full, and workers end. */
const BUSY = [503]

async function rows() {
  const n = 1 + random(4)
  const data = Array.from({ length: n * 64 }, () => random(1000))
  const answer = await post(`models/${['affine', 'short'][random(2)]}/infer`, { inputs: [input([n, 64], data)] })
  check('rows', answer, ({ outputs }) => outputs[0].shape[0] === n && outputs[0].data.every((each, i) => each === 2 * data[i] + 1), BUSY)
}

async function run() {
  const x = Array.from({ length: 100 }, () => random(10))
  const answer = await post('models/steps/infer', { inputs: [input([100], x), input([1], [1], 'n', 'INT64')] })
  check('run', answer, ({ outputs }) => outputs[0].data.every((each, i) => Math.abs(each - Math.sin(x[i])) < 1e-5), BUSY)
}

async function late() {
  const answer = await post('models/steps/infer', {
    inputs: [
      input(
        [1000],
        Array.from({ length: 1000 }, () => 1),
      ),
      input([1], [1e9], 'n', 'INT64'),
    ],
    parameters: { timeout: 30_000 + random(50_000) },
  })
  check('late', answer, () => false, [504, ...BUSY])
}

async function sequence() {
  const id = `s${random(1e9)}`
  let sum = 0
  for (let i = 0; i < 5; i++) {
    const x = random(100)
    sum += x
    const answer = await post('models/total/infer', {
      inputs: [input([1], [x])],
      parameters: { sequence_id: id, sequence_start: i === 0, sequence_end: i === 4 },
    })
    // a worker that ended took it along, or the model was loaded again
    check('sequence', answer, ({ outputs }) => outputs[0].data[0] === sum, [400, ...BUSY])
    if (answer.status !== 200) return
  }
}

const BAD = [
  '{',
  '[]',
  '{"inputs":[]}',
  JSON.stringify({ inputs: [input([1, 63], [1])] }),
  JSON.stringify({ inputs: [input([2 ** 40, 64], [])] }),
  'x'.repeat(5000),
]
async function bad() {
  check('bad', await post('models/affine/infer', BAD[random(BAD.length)]), () => false, [400])
  check('none', await post(`models/${random(2) ? '..%2f..' : 'none'}/infer`, '{}'), () => false, [404, 400])
}

/** Goes in the middle of its request, or of the run. */
async function gone() {
  const body = JSON.stringify({
    inputs: [
      input(
        [1000],
        Array.from({ length: 1000 }, () => 1),
      ),
      input([1], [1e9], 'n', 'INT64'),
    ],
  })
  const request = httpRequest(`${server.url}/v2/models/steps/infer`, { method: 'POST', headers: { 'Content-Length': body.length } })
  request.on('error', () => {})
  if (random(2)) request.end(body)
  else request.write(body.slice(0, 1000))
  await pause(random(50))
  request.destroy()
  count('gone')
}

async function lane(actions) {
  while (performance.now() < until) {
    try {
      await actions[random(actions.length)]()
    } catch (error) {
      wrong.push({ what: 'connection', body: String(error.cause ?? error) })
      await pause(100)
    }
  }
}

async function reloads() {
  while (performance.now() < until) {
    const [name, model] = [
      ['affine', 'affine'],
      ['short', 'affine'],
      ['steps', 'steps'],
      ['total', 'total'],
    ][random(4)]
    replace(name, model)
    check('reload', await post(`repository/models/${name}/load`, {}), () => true, BUSY)
    await pause(500 + random(2000))
  }
}

async function deaths() {
  while (performance.now() < until) {
    await pause(5000 + random(10_000))
    server.process.send('kill a worker')
    count('killed workers')
  }
}

const resident = []
async function watch() {
  while (performance.now() < until) {
    await pause(1000)
    resident.push((await server.ask()).resident / 2 ** 20)
  }
}

await Promise.all([
  ...[0, 1, 2, 3].map(() => lane([rows, rows, rows, run, sequence])),
  ...[0, 1].map(() => lane([late, bad, gone])),
  reloads(),
  deaths(),
  watch(),
])
const ended = await server.end()
rmSync(folder, { recursive: true })

const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0
// without the first tenth, in which it warms up; garbage is collected by the minute, and moves it by tens of megabytes
const settled = resident.slice(Math.floor(resident.length / 10))
const half = Math.floor(settled.length / 2)
const [first, second] = [median(settled.slice(0, half)), median(settled.slice(half))]
console.log(counts)
const minutes = Array.from({ length: Math.floor(resident.length / 60) }, (_, i) => median(resident.slice(60 * i, 60 * (i + 1))).toFixed(0))
console.log(`resident set by the minute, MB: ${minutes.join(' ')}`)
console.log(`resident set: ${first.toFixed(0)} MB in the first half, ${second.toFixed(0)} MB in the second`)
console.log(`wrong answers: ${wrong.length}`, wrong.slice(0, 10))
console.log(`the server ended with ${ended}`)
process.exitCode = wrong.length > 0 || second > 1.1 * first ? 1 : 0
