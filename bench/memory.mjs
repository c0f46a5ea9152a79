// Resident set over 2,000 forwards of MobileNetV2, or of another model: after a tenth of them and after the last. Exits 1 where it grows
// by more than 5 %.
//
// V8 fills its nursery once, 16 MB by default, and lets old garbage lie until it is worth collecting, whatever runs; with a nursery of
// 4 MB and a collection before each figure they are those of the library.
//
//   node --expose-gc --max-semi-space-size=4 memory.mjs [FILE.ptl INPUT.npy [RUNS]]
//
// What is never disposed of, beside onnxruntime: the loops of garbage.mjs, 20,000 times each, without and with turns of the event loop between.
//
//   node memory.mjs --loops [--iterations 20000] [--only tensor|mobilenet_v2]
import { loadModule, memoryStats, Tensor } from '../dist/index.js'
import { modelPath } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'

if (process.argv.includes('--loops')) await import('./garbage.mjs')
else await steady()

async function steady() {
  const [file = modelPath('mobilenet_v2', 'ptl'), inputFile = modelPath('mobilenet_v2', 'npy'), runs = '2000'] = process.argv.slice(2)
  const module = await loadModule(file)
  const { dtype, shape, data } = readNpy(inputFile)
  const input = Tensor.fromStorage(data, { dtype, shape })
  const megabytes = () => {
    globalThis.gc?.()
    return process.memoryUsage.rss() / 1e6
  }
  const first = Math.max(20, Math.floor(Number(runs) / 10))
  const step = Math.max(200, first)

  let early = 0
  for (let i = 1; i <= Number(runs); i++) {
    module.forward(input).dispose()
    if (i === first) early = megabytes()
    if (i % step === 0)
      console.log(
        `after ${String(i).padStart(5)}: resident ${megabytes().toFixed(1)} MB, tensors ${(memoryStats().live / 1e6).toFixed(1)} MB`,
      )
    // lets finalizers and the garbage collector's own work run, as a server's event loop would
    if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const growth = megabytes() / early - 1
  console.log(
    `resident set: ${early.toFixed(1)} MB after forward ${first}, ${megabytes().toFixed(1)} MB after the last (${(100 * growth).toFixed(1)} %)`,
  )
  process.exitCode = growth > 0.05 ? 1 : 0
}
