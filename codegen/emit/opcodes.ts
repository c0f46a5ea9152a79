import type { GeneratedFiles } from '../generate.js'
import { EFFECTS, type OpcodeDeclaration, OPERANDS } from '../opcodes.js'
import { banner } from './file.js'

const INPUT = 'codegen/opcodes.yaml'

/** Names of EFFECTS in code, and the words for them, in their order. */
const EFFECT_NAMES = ['none', 'one', 'two', 'three', 'x', 'n', 'nAndOne', 'schema']
const EFFECT_WORDS = [0, 1, 2, 3, 'X', 'N', 'N+1', 'schema']

/** program/generated: the instruction set, what the verifier and its readers know of it, and what selective builds go by. */
export function emitOpcodes(rows: readonly OpcodeDeclaration[]): GeneratedFiles {
  return new Map([
    ['program/generated/opcodes.ts', banner('opcodes.ts', INPUT) + opcodesText(rows)],
    ['program/generated/opcode-results.ts', banner('opcodes.ts', INPUT) + resultsText(rows)],
    ['program/generated/plain-opcodes.ts', banner('opcodes.ts', INPUT) + plainText(rows)],
  ])
}

function opcodesText(rows: readonly OpcodeDeclaration[]): string {
  const members = (names: readonly string[]): string => names.map((name, i) => `  ${name}: ${i},\n`).join('')
  const letters = rows.map(({ name, doc, x, n, pops, pushes }) =>
    doc === null ? name : `${name} ${OPERANDS[x]}${OPERANDS[n]}${EFFECTS[pops]}${EFFECTS[pushes]}`,
  )
  const docs = rows.map(({ name, doc, value }) => `  /** ${doc ?? 'never in mobile files'} */\n  ${name}: ${value},\n`)
  const operators = rows.flatMap(({ value, operator }) => (operator === null ? [] : [`${value}: '${operator}'`]))
  return `
/** Numbers of instructions. Bundlers put the numbers in the place of the names. */
export const Opcode = {
${docs.join('')}} as const

/** What an operand means: the place of its letter in OPERAND_LETTERS. */
export const OperandKind = {
${members(Object.keys(OPERANDS))}} as const

/** Values taken from or left on the stack: the place of the letter in EFFECT_LETTERS. */
export const StackEffect = {
${members(EFFECT_NAMES)}} as const

/** One row per opcode: its name, and a letter each for X, N, pops and pushes; the name alone for opcodes that never occur in mobile files. */
export const ROWS = \`\\
${letters.join('\n')}\`

export const OPERAND_LETTERS = '${Object.values(OPERANDS).join('')}'
export const EFFECT_LETTERS = '${Object.values(EFFECTS).join('')}'

/** The letters in words. */
export const OPERANDS = ${JSON.stringify(Object.keys(OPERANDS))} as const
export const EFFECTS = ${JSON.stringify(EFFECT_WORDS)} as const

/** Opcodes of which the verifier checks more than that operands are in range and the stack is deep enough. */
export const CHECKED: readonly number[] = [${rows.flatMap(({ value, isChecked }) => (isChecked ? [value] : [])).join(', ')}]

/** Operators that instructions stand for, by opcode. */
export const PROMOTED: Readonly<Record<number, string>> = { ${operators.join(', ')} }

/** Whether an instruction stands for an operator. */
export function isPromoted(opcode: number): boolean {
  return ${rows.flatMap(({ value, operator }) => (operator === null ? [] : [`opcode === ${value}`])).join(' || ') || 'false'}
}
`
}

function resultsText(rows: readonly OpcodeDeclaration[]): string {
  const results = rows.flatMap(({ name, value, result }) => (result === null ? [] : [`  ${value}: Kind.${result}, // ${name}\n`]))
  return `import { Kind } from '../value-kinds.js'

/** Kinds of the only result of an instruction, by opcode; of others they differ. */
export const RESULTS: Readonly<Record<number, number>> = {
${results.join('')}}
`
}

function plainText(rows: readonly OpcodeDeclaration[]): string {
  const names = rows.filter(({ isPlain }) => isPlain).map(({ name }) => name)
  return `
/** Instructions that neither make a container nor take anything out of one. */
export const PLAIN: ReadonlySet<string> = new Set(${JSON.stringify(names)})
`
}
