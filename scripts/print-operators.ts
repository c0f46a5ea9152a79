// npx tsx scripts/print-operators.ts: writes docs/operators.md
import { writeFileSync } from 'node:fs'
import { operatorsPage } from './operators-doc/page.js'

writeFileSync(new URL('../docs/operators.md', import.meta.url), operatorsPage())
