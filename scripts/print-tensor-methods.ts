// npx tsx scripts/print-tensor-methods.ts: writes the tables of tensors' methods in docs/api.md
import { writeFileSync } from 'node:fs'
import { apiPage, withTensorMethods } from './tensor-methods-doc.js'

writeFileSync(new URL('../docs/api.md', import.meta.url), withTensorMethods(apiPage()))
