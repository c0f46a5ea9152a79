// npx tsx scripts/missing-operators.ts [FILE]: prints the operators of a list, one a line, that this build lacks.
import { readFileSync } from 'node:fs'
import { missingOf, PRODUCTION_LIST } from './missing-operators/compare.js'

const names = readFileSync(process.argv[2] ?? PRODUCTION_LIST, 'utf8').split('\n').filter((line) => line !== '') // prettier-ignore
const missing = missingOf(names)
for (const { name, similar } of missing) console.log(`${name}${similar.length === 0 ? '' : ` (there is ${similar.join(', ')})`}`)
console.log(`${missing.length} of ${names.length} operators are missing`)
