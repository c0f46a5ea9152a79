// Generated code against what it replaces, in one run on one thread: chains of element-wise operators, and post-ops of dense layers.
// Prints tables of the least times in Markdown.
//
//   npm --prefix bench run jit -- [--count 16777216] [--rounds 40] [--milliseconds 20] [--layers REGEX]
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cpu } from '../../src/index.js'
import { timeChains } from './chain.js'
import { type LayerTimes, NETWORKS, timeLayer } from './layers.js'

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
    [
      `\n${network}, bias + gelu + residual`,
      'alone, µs',
      'share of the time',
      'with a loop that adds the residual',
      'in passes of their own',
      'with post-ops',
      'at most 5 %',
    ].join(' | '),
  )
  console.log('---|---:|---:|---:|---:|---:|---')
  const all = wanted.map((layer) => timeLayer(layer, rounds, milliseconds))
  const sum = (of: (times: LayerTimes) => number): number => all.reduce((total, times) => total + times.layer.times * of(times), 0)
  const total = {
    alone: sum((t) => t.alone),
    plain: sum((t) => t.plain),
    separate: sum((t) => t.separate),
    generated: sum((t) => t.generated),
  }
  const row = (name: string, count: number, { alone, plain, separate, generated }: typeof total): void => {
    const over = (us: number): string => `${us < alone ? '' : '+'}${(100 * (us / alone - 1)).toFixed(1)} %`
    const share = `${((100 * count * alone) / total.alone).toFixed(0)} %`
    console.log(
      [name, alone.toFixed(0), share, over(plain), over(separate), over(generated), verdict(generated <= 1.05 * alone)].join(' | '),
    )
  }
  for (const times of all) row(`${times.layer.name} (${times.layer.times})`, times.layer.times, times)
  row('the network', 1, total)
}
