import { readFileSync } from 'node:fs'
import t from 'tap'
import { instructionsDoc } from '../../scripts/instructions-doc.js'

t.test('docs/instructions.md is what the opcode table prints', async (t) => {
  const cells = (text: string): string[] => text.split('\n').map((line) => line.replace(/\s*\|\s*/g, '|').trim())
  const page = readFileSync(new URL('../../docs/instructions.md', import.meta.url), 'utf8')
  const rows = (text: string): string[] => cells(text).filter((line) => /^\|\d/.test(line))
  t.same(rows(page), rows(instructionsDoc()), 'run: npx tsx scripts/print-instructions.ts > docs/instructions.md')
})
