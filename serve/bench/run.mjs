// Requests per second and latencies of the server beside a hand-written one with fastify and onnxruntime-node, in one run, by turns:
//   node serve/bench/run.mjs [--seconds 3] [--rounds 5] [--models mlp,mobilenet_v2] [--connections 1,16]
// and of its batching beside requests one by one. Install first: npm --prefix serve/bench ci
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { Child } from './child.mjs'
import { numbersOf, prepare, repository, requestFor } from './models.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    models: { type: 'string', default: 'mlp,mobilenet_v2,encoder' },
    batched: { type: 'string', default: 'encoder,encoder_short,encoder_words' },
    options: { type: 'string', default: '{}' },
    connections: { type: 'string', default: '1,4,16,64' },
  },
})
const list = (text) => text.split(',').filter((each) => each !== '')
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]

prepare()
const load = [...list(values.models), ...list(values.batched).flatMap((name) => [name, `${name}_batched`])]
const ours = await Child.start('ptlite', './server.mjs', repository, JSON.stringify({ load, ...JSON.parse(values.options) }))
const peer = await Child.start('fastify + onnxruntime', './peer.mjs')

async function measure(child, model, connections, duration = seconds) {
  await child.ask()
  const { headers, body } = requestFor(model)
  const result = await autocannon({ url: `${child.url}/v2/models/${model}/infer`, method: 'POST', connections, duration, headers, body })
  const { eventLoop, cpu } = await child.ask()
  const failed = result.non2xx + result.errors
  if (failed > 0) console.log(`${child.name}, ${model}: ${failed} requests failed`)
  return {
    rate: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    eventLoop,
    cpu: cpu / result.requests.total,
  }
}

/** Of several rounds the middle one by rate. */
function middle(found) {
  return found.toSorted((a, b) => a.rate - b.rate)[Math.floor(found.length / 2)]
}

/** How many times the requests of `others` there were in each round, in the middle: what disturbs a round does so for both. */
function times(found, others) {
  const ratios = found.map(({ rate }, i) => rate / others[i].rate).sort((a, b) => a - b)
  return ratios[Math.floor(ratios.length / 2)].toFixed(2)
}

async function answers(child, model) {
  const { headers, body } = requestFor(model)
  return numbersOf(await fetch(`${child.url}/v2/models/${model}/infer`, { method: 'POST', headers, body }))
}

/** Both compute the same. */
async function compare(model) {
  const [a, b] = [await answers(ours, model), await answers(peer, model)]
  const scale = Math.max(...b.map(Math.abs))
  const worst = Math.max(...a.map((each, i) => Math.abs(each - b[i]))) / scale
  if (a.length !== b.length || !(worst < 1e-3)) throw new Error(`${model}: results differ by ${worst} of the largest`)
}

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`)
const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0))

try {
  console.log(
    `Node ${process.version}, ${cpus().length} processors (${cpus()[0].model.trim()}), ${rounds} rounds of ${seconds} s by turns\n`,
  )
  row(
    'model',
    'connections',
    'ptlite: requests/s',
    'p50, ms',
    'p99, ms',
    'event loop p99, ms',
    'processor, ms',
    `${peer.name}: requests/s`,
    'p50, ms',
    'p99, ms',
    'processor, ms',
    'times',
  )
  row('---', ...Array.from({ length: 11 }, () => '---:'))
  for (const model of list(values.models)) {
    await compare(model)
    for (const child of [ours, peer]) await measure(child, model, 4, 1)
    for (const connections of list(values.connections).map(Number)) {
      const found = [[], []]
      for (let i = 0; i < rounds; i++)
        for (const [j, child] of [ours, peer].entries()) found[j].push(await measure(child, model, connections))
      const [a, b] = found.map(middle)
      row(
        model,
        connections,
        a.rate.toFixed(0),
        ms(a.p50),
        ms(a.p99),
        ms(a.eventLoop),
        a.cpu.toFixed(3),
        b.rate.toFixed(0),
        ms(b.p50),
        ms(b.p99),
        b.cpu.toFixed(3),
        times(...found),
      )
    }
  }
  console.log()
  row(
    'batching, 32 connections',
    'without: requests/s',
    'p99, ms',
    'with: requests/s',
    'p99, ms',
    'times',
    'p99 of 1 connection, ms',
    'p99 against that',
  )
  row('---', ...Array.from({ length: 7 }, () => '---:'))
  for (const model of list(values.batched)) {
    const found = [[], [], []]
    for (const [name, connections] of [
      [model, 4],
      [`${model}_batched`, 32],
    ])
      await measure(ours, name, connections, 1)
    for (let i = 0; i < rounds; i++) {
      found[0].push(await measure(ours, model, 32))
      found[1].push(await measure(ours, `${model}_batched`, 32))
      found[2].push(await measure(ours, `${model}_batched`, 1))
    }
    const [without, batched, unloaded] = found.map(middle)
    row(
      ...[model, without.rate.toFixed(0), ms(without.p99), batched.rate.toFixed(0), ms(batched.p99), times(found[1], found[0])],
      ...[ms(unloaded.p99), (batched.p99 / unloaded.p99).toFixed(1)],
    )
  }
} finally {
  await Promise.all([ours.end(), peer.end()])
}
