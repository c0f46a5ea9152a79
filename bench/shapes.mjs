// What mode 'auto' costs where shapes keep changing, so that plans seldom pay: two copies of a model, one of which is interpreted
// only, are called in turns with batches of ever other lengths. Prints the ratio of the times, of all calls and in the median of
// blocks of 50 calls, by model and by how many lengths there are: each once, or some that come back in turns or at random.
//
//   node shapes.mjs [--calls 4000]
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { loadModule, tensor } from '../dist/index.js'
import { modelPath } from './lib/models.mjs'

const { values: options } = parseArgs({ options: { calls: { type: 'string', default: '4000' } } })
const calls = Number(options.calls)
const MODELS = [
  ['one linear layer', fileURLToPath(new URL('../test/fixtures/compile.ptl', import.meta.url)), [4]],
  ['mlp', modelPath('mlp', 'ptl'), [16]],
]
const LENGTHS = [
  ['never the same', (i) => i + 1],
  ['20 in turns', (i) => (i % 20) + 1],
  ['100 in turns', (i) => (i % 100) + 1],
  [
    '20 at random',
    (() => {
      let state = 1
      return () => (((state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) >> 8) % 20) + 1
    })(),
  ],
]

/** Processor time in microseconds, which does not count what other processes take. */
const cpuTime = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}
const BLOCK = 50

console.log('| model | lengths | off, µs | auto, µs | auto / off | median |\n|---|---|---:|---:|---:|---:|')
for (const [name, file, sample] of MODELS) {
  for (const [kind, lengthOf] of LENGTHS) {
    const modules = { off: await loadModule(file, { compile: 'off' }), auto: await loadModule(file, { compile: 'auto' }) }
    const elements = sample.reduce((a, b) => a * b, 1)
    const times = { off: [], auto: [] }
    for (let i = 0; i + BLOCK <= calls; i += BLOCK) {
      const batches = Array.from({ length: BLOCK }, (_, k) => {
        const length = lengthOf(i + k)
        return tensor(new Float32Array(length * elements), [length, ...sample])
      })
      for (const mode of (i / BLOCK) % 2 === 0 ? ['off', 'auto'] : ['auto', 'off']) {
        const begin = cpuTime()
        for (const x of batches) modules[mode].forward(x).dispose()
        times[mode].push(cpuTime() - begin)
      }
      for (const x of batches) x.dispose()
    }
    // the first quarter warms up
    const later = (list) => list.slice(list.length >> 2)
    const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length / BLOCK
    const ratios = later(times.auto).map((auto, i) => auto / later(times.off)[i])
    const median = ratios.sort((a, b) => a - b)[ratios.length >> 1]
    const [off, auto] = [mean(later(times.off)), mean(later(times.auto))]
    console.log(`| ${name} | ${kind} | ${off.toFixed(1)} | ${auto.toFixed(1)} | ${(auto / off).toFixed(2)} | ${median.toFixed(2)} |`)
    for (const module of Object.values(modules)) module.dispose()
  }
}
