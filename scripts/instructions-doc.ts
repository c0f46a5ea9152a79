import { fileURLToPath } from 'node:url'
import { type Operand, readOpcodes } from '../codegen/opcodes.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** docs/instructions.md: the opcode table as a page. */
export function instructionsDoc(): string {
  const opcodes = readOpcodes(root)
  const operand = (kind: Operand): string => (kind === 'none' ? '-' : kind)
  const rows = opcodes.flatMap(({ value, name, x, n, pops, pushes, doc }) =>
    doc === null ? [] : [`| ${value} | \`${name}\` | ${operand(x)} | ${operand(n)} | ${pops} | ${pushes} | ${doc} |`],
  )
  const never = opcodes.filter(({ doc }) => doc === null).map((row) => `\`${row.name}\``)
  return `# Instructions

One value stack for the whole call chain, and registers 1..n per function. Jumps are relative to the instruction itself. "Takes" and
"leaves" count values on the stack; "schema" means as many as the operator or function declares. This page is printed from
\`codegen/opcodes.yaml\`, which also drives the decoder, the verifier and \`ptlite inspect --code\`.

| number | name | X | N | takes | leaves | meaning |
| ---: | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

Never in mobile files, and refused at load: ${never.join(', ')}.
`
}
