import t from 'tap'
import { Histogram } from '../src/histogram.js'
import { requireOfServe } from './support/server.js'

const { Histogram: Reference, Registry } = requireOfServe('prom-client') as typeof import('prom-client')

t.test('it reads as that of prom-client does', async (t) => {
  const [own, theirs] = [new Registry(), new Registry()]
  const bounds = [0.1, 1, 10]
  const mine = new Histogram('seconds', 'What it took', bounds, own)
  const reference = new Reference({ name: 'seconds', help: 'What it took', buckets: bounds, labelNames: ['model'], registers: [theirs] })
  for (const [model, values] of [
    ['a', [0.05, 0.1, 0.5, 1, 3, 11, 11]],
    ['b "quoted"', [10]],
  ] as const) {
    const series = mine.labels({ model })
    for (const value of values) {
      series.observe(value)
      reference.observe({ model }, value)
    }
  }
  t.equal(mine.labels({ model: 'a' }), mine.labels({ model: 'a' }))
  const sorted = (text: string): string[] =>
    text
      .split('\n')
      .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join()}}`))
      .sort()
  t.strictSame(sorted(await own.metrics()), sorted(await theirs.metrics()))
  mine.remove({ model: 'a' })
  t.notMatch(await own.metrics(), /model="a"/)
  t.match(await own.metrics(), /seconds_count\{model="b \\"quoted\\""\} 1/)
})
