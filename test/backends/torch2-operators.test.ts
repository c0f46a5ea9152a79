import t from 'tap'
import { callOperator } from '../../src/index.js'
import { decode, difference, torch2Cases } from './support/torch2-cases.js'

for (const file of ['core', 'operators', 'lists', 'others'] as const) {
  t.test(file, (t) => {
    for (const [i, { op, args, want, error, changed }] of torch2Cases(file).entries()) {
      const title = `${op} #${i}`
      const given = args.map(decode)
      if (error === true) {
        t.throws(() => callOperator(op, given), { name: 'PtliteError' }, title)
        continue
      }
      t.equal(difference(callOperator(op, given), want!), undefined, title)
      for (const [at, value] of Object.entries(changed ?? {})) t.equal(difference(given[Number(at)], value), undefined, `${title} writes`)
    }
    t.end()
  })
}
