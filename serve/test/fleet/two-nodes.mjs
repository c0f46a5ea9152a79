/**
 * Two servers in network namespaces of their own, a proxy before them, and load: node serve/test/fleet/two-nodes.mjs
 * One server is killed under load; then both are restarted, one after the other. Needs root, iproute2 and the built clone; it opens nothing to the outside,
 * and takes about half a minute. The status is 1 where something was lost.
 */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'esbuild'

const here = import.meta.dirname
const NODES = [
  { name: 'a', address: '10.77.1.2:8080' },
  { name: 'b', address: '10.77.2.2:8080' },
]
const CLIENTS = 16

if (process.argv[2] !== 'inside') {
  if (process.getuid() !== 0) {
    console.error('it needs root, for network namespaces')
    process.exit(2)
  }
  // all namespaces go with this process
  const { status } = spawnSync(
    'unshare',
    ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, import.meta.filename, 'inside'],
    {
      stdio: 'inherit',
      timeout: 180_000,
      killSignal: 'SIGKILL',
    },
  )
  process.exit(status ?? 1)
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function check(what, isSo) {
  console.log(`${isSo ? 'ok    ' : 'not ok'} ${what}`)
  if (!isSo) process.exitCode = 1
}

function ip(...args) {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
}

function makeNetwork() {
  spawnSync('mkdir', ['-p', '/run/netns'])
  spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', '/run/netns'])
  ip('link', 'set', 'lo', 'up')
  NODES.forEach(({ name, address }, i) => {
    ip('netns', 'add', name)
    ip('link', 'add', `to-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
    ip('addr', 'add', `10.77.${i + 1}.1/24`, 'dev', `to-${name}`)
    ip('link', 'set', `to-${name}`, 'up')
    ip('-n', name, 'addr', 'add', `${address.split(':')[0]}/24`, 'dev', 'eth0')
    for (const device of ['eth0', 'lo']) ip('-n', name, 'link', 'set', device, 'up')
  })
}

/** Starts a server in the namespace of a node, and waits until it is ready. */
async function start(node) {
  const [host, port] = node.address.split(':')
  const args = [
    join(here, '../../dist/main.js'),
    join(here, '../conformance/fixtures/repository'),
    '--host',
    host,
    '--port',
    port,
    '--log-level',
    'error',
  ]
  node.process = spawn('ip', ['netns', 'exec', node.name, process.execPath, ...args, '--workers', '1', '--inline', '0'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  node.ended = new Promise((resolve) => node.process.on('exit', resolve))
  for (let left = 300; ; left--) {
    if ((await fetch(`http://${node.address}/v2/health/ready`).catch(() => undefined))?.ok) return
    if (left === 0) throw new Error(`node ${node.name} did not become ready`)
    await sleep(100)
  }
}

/** The client as it is exported. */
async function loadClient() {
  const { outputFiles } = await build({
    entryPoints: [join(here, '../../client/index.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
  })
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
}

/** Load of several clients until `during` is over; every answer is compared with what the model computes. */
async function underLoad(client, during) {
  const seen = { sent: 0, right: 0, wrong: 0, failed: [] }
  let isOver = false
  const one = async (seed) => {
    for (let i = 0; !isOver; i++) {
      const data = Float32Array.of(seed, i, seed * i, 0.5)
      seen.sent++
      try {
        const { outputs } = await client.infer('echo', { x: { data, shape: [1, 4] } })
        const isRight = outputs.y.data.every((value, k) => value === Math.fround(data[k] * 2 + 1))
        seen[isRight ? 'right' : 'wrong']++
      } catch (error) {
        seen.failed.push({ at: performance.now(), message: error.message })
      }
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, seed) => one(seed))
  try {
    await during()
  } finally {
    isOver = true
  }
  await Promise.all(clients)
  return seen
}

function report(what, { sent, right, wrong, failed }) {
  console.log(`       ${what}: ${sent} requests, ${right} right, ${wrong} wrong, ${failed.length} failed`)
  check('each request was answered once, and no answer was wrong', wrong === 0 && right + failed.length === sent)
}

makeNetwork()
const { InferenceClient } = await loadClient()
const [a, b] = NODES
await Promise.all(NODES.map(start))
const proxy = spawn(process.execPath, [join(here, 'proxy.mjs'), '8000', ...NODES.map(({ address }) => address)], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
})
const heard = () => new Promise((resolve) => proxy.once('message', resolve))
await heard()
await sleep(500)
/** What the proxy knows of a node. */
const state = async (node) => {
  const answer = heard()
  proxy.send({ state: true })
  return (await answer).state.find(({ address }) => address === node.address)
}
const url = 'http://127.0.0.1:8000'
const plain = new InferenceClient(url, { binary: true, retries: 0 })
const patient = new InferenceClient(url, { binary: true, retries: 3 })

const kill = async (node) => {
  node.process.kill('SIGKILL')
  await node.ended
}
let killedAt = 0
const first = await underLoad(plain, async () => {
  await sleep(2000)
  const before = [await state(a), await state(b)]
  check(
    `both nodes answer: ${before.map(({ answered }) => answered).join(' and ')}`,
    before.every(({ answered }) => answered > 10),
  )
  killedAt = performance.now()
  await kill(b)
  await sleep(3000)
})
report('node b killed, clients that do not try again', first)
const { underWayAtLoss } = await state(b)
check(`at most what was in flight there is lost: ${first.failed.length} of ${underWayAtLoss}`, first.failed.length <= underWayAtLoss)
check(
  'and that within a second',
  first.failed.every(({ at }) => at - killedAt < 1000),
)

await start(b)
await sleep(500)
const second = await underLoad(patient, async () => {
  await sleep(1000)
  await kill(b)
  await sleep(2000)
  await start(b)
  await sleep(1000)
  await kill(a)
  await sleep(2000)
})
report('one node killed, then the other, clients that try again', second)
check('nothing is lost', second.failed.length === 0)
for (const { message } of second.failed.slice(0, 5)) console.log(`       ${message}`)

await start(a)
await sleep(500)
/** As an orchestrator does it: out of rotation, then the signal, then a new one that is ready. */
const restart = async (node) => {
  proxy.send({ drain: node.address })
  await sleep(500)
  node.process.kill('SIGTERM')
  const code = await node.ended
  check(`node ${node.name} ends by itself`, code === 0)
  await start(node)
  proxy.send({ add: node.address })
  await sleep(1000)
}
const third = await underLoad(plain, async () => {
  await sleep(500)
  for (const node of NODES) await restart(node)
})
report('both restarted, one after the other, clients that do not try again', third)
check('nothing is lost', third.failed.length === 0)
for (const { message } of third.failed.slice(0, 5)) console.log(`       ${message}`)

const fourth = await underLoad(patient, async () => {
  await sleep(500)
  b.process.kill('SIGTERM')
  await b.ended
  await sleep(1000)
})
report('a node told to end while it is in rotation, clients that try again', fourth)
check('nothing is lost', fourth.failed.length === 0)
proxy.kill('SIGKILL')
a.process.kill('SIGKILL')
process.exit()
