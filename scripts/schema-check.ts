// npm run schemas:check [-- --update]: compares the operator table with PyTorch's schemas and prints what is equal, compatible, different and missing; and the tags.
import { readFileSync, writeFileSync } from 'node:fs'
import { operators } from '../src/index.js'
import { BASELINE, baselineText, compareWithPyTorch } from './schema-check/compare.js'
import { compareTags } from './schema-check/tags.js'

const comparison = compareWithPyTorch(operators().map(({ schema }) => schema))
const { equal, compatible, different, missing } = comparison
const list = (title: string, lines: readonly string[]): void => {
  console.log(`${title}: ${lines.length}`)
  for (const line of lines) console.log(`  ${line}`)
}
list('equal', equal)
list('compatible', compatible)
list('different', [...different].map(([name, reason]) => `${name}: ${reason}`)) // prettier-ignore
list('missing', missing)
const tags = compareTags()
list('tags that differ', tags)
console.log(`${equal.length} equal, ${compatible.length} compatible, ${different.size} different, ${missing.length} missing`)

const text = baselineText(comparison, tags)
if (process.argv.includes('--update')) writeFileSync(BASELINE, text)
else if (text !== readFileSync(BASELINE, 'utf8')) {
  console.error('The lists of what is different or missing, or of tags, have changed: npm run schemas:check -- --update writes them down.')
  process.exitCode = 1
}
