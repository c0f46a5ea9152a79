import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { OPCODES } from '../../runtime/interpreter/opcodes.js'
import { INSTRUCTION_LOOP, withInstructions } from '../../selective-build/build/instructions.js'
import { rewrite } from '../../selective-build/build/rewrite.js'

t.test('clauses of a switch by number', (t) => {
  const source = `switch (x) { case 0: a(); continue; case 1: case 2: b(); continue; case 3: { c() } default: throw d }`
  const kept = (...opcodes: number[]): string => withInstructions(source, new Set(opcodes)).replace(/\s+/g, ' ')
  t.equal(kept(0, 1, 2, 3), source)
  t.equal(kept(0), 'switch (x) { case 0: a(); continue; default: throw d }')
  t.equal(kept(1), 'switch (x) { case 1: b(); continue; default: throw d }')
  t.equal(kept(2), 'switch (x) { case 2: b(); continue; default: throw d }')
  t.equal(kept(), 'switch (x) { default: throw d }')
  t.end()
})

t.test('the instruction loop has a clause for every instruction', (t) => {
  const source = readFileSync(fileURLToPath(new URL(`../../${INSTRUCTION_LOOP}`, import.meta.url)), 'utf8')
  for (const { code, name, runs } of OPCODES.filter((row) => row.runs)) {
    const only = withInstructions(source, new Set([code]))
    t.equal(/case \d+:/g.exec(only)?.[0], `case ${code}:`, name)
    t.equal(only.match(/case \d+:/g)!.length, 1, `${name} alone`)
    t.ok(runs)
  }
  t.end()
})

t.test('flags, constants and calls at the top level', (t) => {
  const constants = new Map([['Op', { add: 3 }]])
  const out = rewrite(
    `import { HOLDS_A } from '../held.js'\nimport { make } from './make.js'\nconst Op = kernels.Op\nexport const f: F = make('f', Op.add)\nconst g = () => make(Op.toString(), Op.unknown, kernels.Op.add)\n  const inner = make(1)`,
    constants,
  )
  t.notMatch(out, /HOLDS_A/)
  t.match(out, "export const f: F = /* @__PURE__ */ make('f', 3)")
  t.match(out, 'const g = () => make(Op.toString(), Op.unknown, 3)')
  t.match(out, '\n  const inner = make(1)', 'not at the top level')
  t.end()
})
