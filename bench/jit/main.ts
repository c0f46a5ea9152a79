// Generated code against what it replaces, in one run on one thread: chains of element-wise operators, and post-ops of dense layers.
// Prints tables of the least times in Markdown.
//
//   npm --prefix bench run jit -- [--count 16777216] [--rounds 40] [--milliseconds 20] [--layers REGEX]
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cpu } from '../../src/index.js'
import { timeChains } from './chain.js'
import { NETWORKS, timeLayer } from './layers.js'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: String(16 * 2 ** 20) },
    rounds: { type: 'string', default: '40' },
    milliseconds: { type: 'string', default: '20' },
    layers: { type: 'string', default: '.' },
  },
})
const rounds = Number(options.rounds)
const milliseconds = Number(options.milliseconds)
const count = Number(options.count)
const verdict = (good: boolean): string => (good ? 'yes' : 'NO')

console.log(`${cpus()[0]!.model}, ${cpu.currentLevel()}, ${new Date().toISOString().slice(0, 10)}\n`)
if (count > 0) {
  console.log(
    `${count} floats | copy and scale, ms | generated, ms | one by one, ms | of copy's speed | at least 0.85 | times faster | at least 2.5`,
  )
  console.log('---|---:|---:|---:|---:|---|---:|---')
  for (const { name, scale, generated, separate } of timeChains(count, rounds, milliseconds)) {
    const [share, gain] = [scale / generated, separate / generated]
    const milli = [scale, generated, separate].map((us) => (us / 1000).toFixed(2))
    console.log([name, ...milli, share.toFixed(2), verdict(share >= 0.85), gain.toFixed(2), verdict(gain >= 2.5)].join(' | '))
  }
}
for (const [network, layers] of Object.entries(NETWORKS)) {
  const wanted = layers.filter(({ name }) => new RegExp(options.layers).test(name))
  if (wanted.length === 0) continue
  console.log(
    `\n${network}, bias + gelu + residual | alone, µs | with post-ops, µs | in passes of their own, µs | over the layer alone | at most 5 %`,
  )
  console.log('---|---:|---:|---:|---:|---')
  const row = (name: string, alone: number, generated: number, separate: number): void => {
    const over = generated / alone - 1
    const micro = [alone, generated, separate].map((us) => us.toFixed(0))
    console.log([name, ...micro, `${(100 * over).toFixed(1)} %`, verdict(over <= 0.05)].join(' | '))
  }
  let [alone, generated, separate] = [0, 0, 0]
  for (const layer of wanted) {
    const times = timeLayer(layer, rounds, milliseconds)
    alone += layer.times * times.alone
    generated += layer.times * times.generated
    separate += layer.times * times.separate
    row(layer.name, times.alone, times.generated, times.separate)
  }
  row('the network', alone, generated, separate)
}
