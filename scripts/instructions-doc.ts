import { OPCODES } from '../program/opcodes.js'
import { INSTRUCTION_MEANINGS } from './instruction-meanings.js'

/** docs/instructions.md: the opcode table as a page. */
export function instructionsDoc(): string {
  const rows = OPCODES.filter((row) => row.runs).map(
    (row) => `| ${row.code} | \`${row.name}\` | ${row.x} | ${row.n} | ${row.pops} | ${row.pushes} | ${INSTRUCTION_MEANINGS[row.name]!} |`,
  )
  const never = OPCODES.filter((row) => !row.runs).map((row) => `\`${row.name}\``)
  return `# Instructions

One value stack for the whole call chain, and registers 1..n per function. Jumps are relative to the instruction itself. "Takes" and
"leaves" count values on the stack; "schema" means as many as the operator or function declares. This page is printed from
\`program/opcodes.ts\`, which also drives the decoder, the verifier and \`ptlite inspect --code\`.

| number | name | X | N | takes | leaves | meaning |
| ---: | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

Never in mobile files, and refused at load: ${never.join(', ')}.
`
}
