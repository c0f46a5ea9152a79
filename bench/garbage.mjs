// Resident set of loops that dispose of nothing, beside onnxruntime's: 600 kB tensors that are dropped at once, and MobileNetV2 with a new
// input each call; without and with turns of the event loop between. Each in a process of its own; exits 1 where one takes more than 1.3
// times as much as onnxruntime (which has no synchronous call).
//
//   node garbage.mjs [--iterations 20000] [--only tensor|mobilenet_v2]
//
// The same: node memory.mjs --loops [...]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { modelPath } from './lib/models.mjs'

const { values: options } = parseArgs({
  options: {
    iterations: { type: 'string', default: '20000' },
    only: { type: 'string' },
    loops: { type: 'boolean' },
    // what a process is started for
    of: { type: 'string' },
    loop: { type: 'string' },
    every: { type: 'string' },
  },
})
const LOOPS = ['tensor', 'mobilenet_v2']
const { iterations, only, of: library, loop, every } = options
if (!(Number(iterations) >= 1)) throw new Error(`--iterations: expected a number, found ${iterations}`)
if (only !== undefined && !LOOPS.includes(only)) throw new Error(`--only: expected ${LOOPS.join(' or ')}, found ${only}`)
const shape = [1, 3, 224, 224]
const data = new Float32Array(150_528).fill(0.5)

if (library === undefined) compare()
else await run()

function compare() {
  for (const loop of LOOPS.filter((name) => only === undefined || name === only)) {
    for (const every of ['0', '50']) {
      const [own, theirs] = ['ptlite', 'onnxruntime'].map((library) => {
        const args = ['--iterations', iterations, '--of', library, '--loop', loop, '--every', every]
        const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...args], { encoding: 'utf8' })
        if (stdout === '') throw new Error(stderr)
        return Number(stdout)
      })
      const turns = every === '0' ? 'no turn of the event loop' : `one every ${every}`
      console.log(
        `${loop}, ${iterations} times, ${turns}: ${own.toFixed(0)} MB, onnxruntime ${theirs.toFixed(0)} MB (${(own / theirs).toFixed(2)}x)`,
      )
      if (own > 1.3 * theirs) process.exitCode = 1
    }
  }
}

/** Prints the largest resident set, in megabytes. */
async function run() {
  const step = await (library === 'ptlite' ? ownLoop() : peerLoop())
  let peak = 0
  for (let i = 0; i < Number(iterations); i++) {
    const pending = step()
    if (pending instanceof Promise) await pending
    if (i % 50 === 0) peak = Math.max(peak, process.memoryUsage.rss())
    if (every !== '0' && i % Number(every) === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  console.log(peak / 1e6)
}

async function ownLoop() {
  const { loadModule, tensor } = await import('../dist/index.js')
  if (loop === 'tensor') return () => tensor(data, shape)
  const module = await loadModule(modelPath(loop, 'ptl'))
  return () => module.forward(tensor(data, shape))
}

async function peerLoop() {
  const { default: ort } = await import('onnxruntime-node')
  const make = () => new ort.Tensor('float32', data.slice(), shape)
  if (loop === 'tensor') return make
  const session = await ort.InferenceSession.create(modelPath(loop, 'onnx'), { intraOpNumThreads: 1, interOpNumThreads: 1 })
  return () => session.run({ [session.inputNames[0]]: make() })
}
