import { readFileSync } from 'node:fs'
import t from 'tap'
import { operatorsPage } from '../../scripts/operators-doc/page.js'

t.test('docs/operators.md is what the declarations and the operators say', async (t) => {
  const page = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8')
  const lines = (text: string): string[] => text.split('\n')
  const [found, expected] = [new Set(lines(page)), new Set(lines(operatorsPage()))]
  const differences = [...found].filter((line) => !expected.has(line)).concat([...expected].filter((line) => !found.has(line)))
  t.same(differences, [], 'run: npx tsx scripts/print-operators.ts')
})
