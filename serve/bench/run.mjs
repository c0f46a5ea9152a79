// Requests per second and latencies of the server beside a hand-written one with fastify and onnxruntime-node, in one run, by turns:
//   node serve/bench/run.mjs [--seconds 3] [--rounds 5] [--models mlp,mobilenet_v2] [--connections 1,16]
// and what batching brings beside requests one by one. Install first: npm --prefix serve/bench ci, and wrk where there is a package of it.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { batching } from './batching.mjs'
import { besidePeer } from './beside-peer.mjs'
import { Child } from './child.mjs'
import { generator } from './closed-loop.mjs'
import { prepare, repository } from './models.mjs'

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
const [models, batched] = [list(values.models), list(values.batched)]

prepare()
const load = [...models, ...batched.flatMap((name) => [name, `${name}_batched`])]
const ours = await Child.start('ptlite', './server.mjs', repository, JSON.stringify({ load, ...JSON.parse(values.options) }))
const peer = await Child.start('fastify + onnxruntime', './peer.mjs')
try {
  console.log(
    `Node ${process.version}, ${cpus().length} processors (${cpus()[0].model.trim()}), ${rounds} rounds of ${seconds} s by turns, clients by ${generator}\n`,
  )
  if (models.length > 0) await besidePeer(ours, peer, { models, connections: list(values.connections).map(Number), rounds, seconds })
  console.log()
  if (batched.length > 0) await batching(ours, { models: batched, rounds, seconds })
} finally {
  await Promise.all([ours.end(), peer.end()])
}
