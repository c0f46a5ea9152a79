// Resident set over 500 cycles of loading ResNet18, compiling it, running it here and in the background, and disposing it: medians of
// the cycles from 51 to 100 and of the last 50. Exits 1 where it grows by more than 5 %.
//
//   node --max-semi-space-size=4 cycles.mjs [FILE.ptl INPUT.npy [CYCLES]]
import { loadModule, memoryStats, Tensor } from '../dist/index.js'
import { modelPath } from './lib/models.mjs'
import { readNpy } from './lib/npy.mjs'

const [file = modelPath('resnet18', 'ptl'), inputFile = modelPath('resnet18', 'npy'), cycles = '500'] = process.argv.slice(2)
const { dtype, shape, data } = readNpy(inputFile)
const input = Tensor.fromStorage(data, { dtype, shape })
const megabytes = () => process.memoryUsage.rss() / 1e6

const sizes = []
for (let i = 1; i <= Number(cycles); i++) {
  const module = await loadModule(file)
  await module.compile('forward', [input])
  module.forward(input).dispose()
  const output = await module.run('forward', [input])
  output.dispose()
  module.dispose()
  sizes.push(megabytes())
  if (i % 50 === 0) {
    const live = (memoryStats().live / 1e6).toFixed(1)
    console.log(`after ${String(i).padStart(4)}: resident ${megabytes().toFixed(1)} MB, tensors ${live} MB`)
  }
}
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1]
const [early, late] = [median(sizes.slice(50, 100)), median(sizes.slice(-50))]
const growth = late / early - 1
console.log(
  `resident set: ${early.toFixed(1)} MB in cycles 51 to 100, ${late.toFixed(1)} MB in the last 50 (${(100 * growth).toFixed(1)} %)`,
)
process.exitCode = growth > 0.05 ? 1 : 0
