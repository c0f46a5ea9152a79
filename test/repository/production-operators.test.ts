import { readFileSync } from 'node:fs'
import t from 'tap'
import { missingOf, PRODUCTION_LIST } from '../../scripts/missing-operators/compare.js'

t.test('of the operators of production models only training is missing, and docs/compatibility.md says so', async (t) => {
  const names = readFileSync(PRODUCTION_LIST, 'utf8').split('\n').filter((line) => line !== '') // prettier-ignore
  t.equal(names.length, 441)
  const missing = missingOf(names).map(({ name }) => name)
  t.same(missing, ['aten::backward'])
  const page = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8')
  for (const name of missing) t.match(page, `| \`${name}\` |`)
})
