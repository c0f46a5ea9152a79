import { at, failAt } from './error.js'
import { type Entry, readEntries } from './yaml-file.js'
import { join } from 'node:path'

/** What operands of instructions mean, each with its letter in the generated table. */
export const OPERANDS = {
  none: '-',
  count: 'c', // a number of values
  index: 'i', // an element number
  operator: 'o', // index into the function's operators
  constant: 'k', // index into the function's constants
  method: 'm', // index of a constant that is a method name
  jump: 'j', // relative to the instruction itself
  slot: 's', // attribute number
  type: 't', // index into the function's types
  function: 'f', // index into the module's functions
  register: 'r', // 1 .. registerSize
  registers: 'R', // first of N registers
  types: 'T', // first of N types
} as const
export type Operand = keyof typeof OPERANDS

/** Values that instructions take from the stack or leave there, each with its letter in the generated table. */
export const EFFECTS = { 0: '0', 1: '1', 2: '2', 3: '3', X: 'X', N: 'N', 'N+1': '+', schema: '?' } as const
export type StackEffect = keyof typeof EFFECTS

/** Keys of Kind in program/value-kinds.ts. */
export const RESULTS = ['bool', 'int', 'str', 'tensor', 'tuple', 'dict', 'device', 'object'] as const

/** A row of codegen/opcodes.yaml. */
export interface OpcodeDeclaration {
  readonly name: string
  readonly value: number
  /** What it does; null for opcodes that never occur in mobile files. */
  readonly doc: string | null
  readonly x: Operand
  readonly n: Operand
  readonly pops: StackEffect
  readonly pushes: StackEffect
  readonly result: (typeof RESULTS)[number] | null
  readonly operator: string | null
  readonly isChecked: boolean
  readonly isPlain: boolean
}

const KEYS = ['opcode', 'value', 'doc', 'x', 'n', 'pops', 'pushes', 'result', 'operator', 'checked', 'plain']
const FILE = 'codegen/opcodes.yaml'

/** The instruction set, by opcode. Throws CodegenError. */
export function readOpcodes(root: string): OpcodeDeclaration[] {
  return parseOpcodes(readEntries(join(root, FILE), FILE))
}

/** The same of entries that were read. */
export function parseOpcodes(entries: readonly Entry[]): OpcodeDeclaration[] {
  const sources = new Map<string, Entry['source']>()
  return entries.map((entry, value) => {
    const row = parseOpcode(entry)
    const other = sources.get(row.name)
    if (other !== undefined) failAt(entry.source, row.name, `declared twice; the other declaration is at ${at(other)}`)
    sources.set(row.name, entry.source)
    // tables go by position
    if (row.value !== value) failAt(entry.source, row.name, `expected 'value: ${value}', which comes next`)
    return row
  })
}

function parseOpcode({ fields, source }: Entry): OpcodeDeclaration {
  const get = (key: string): unknown => fields.find((f) => f.key === key)?.value
  const name = String(get('opcode'))
  const fail = (message: string): never => failAt(source, name, message)
  const unknown = fields.find(({ key }) => !KEYS.includes(key))
  if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
  if (!/^[A-Z_]+$/.test(name)) fail('an opcode needs a name in capitals')
  /** One of the keys of `all`, which is what stands in the file. */
  const oneOf = <T extends string | number>(key: string, all: Readonly<Record<T, unknown>>, missing: T): T => {
    const value = get(key) ?? missing
    return Object.hasOwn(all, String(value)) ? (value as T) : fail(`'${key}' must be one of ${Object.keys(all).join(', ')}`)
  }
  const text = (key: string): string | null => {
    const value = get(key) ?? null
    return value === null || (typeof value === 'string' && /^\S.*$/.test(value)) ? value : fail(`'${key}' must be a line of text`)
  }
  const flag = (key: string): boolean => {
    const value = get(key) ?? false
    return typeof value === 'boolean' ? value : fail(`'${key}' must be true or false`)
  }
  const value = get('value')
  if (typeof value !== 'number') fail("'value' must be a number")
  const result = text('result') as OpcodeDeclaration['result']
  if (result !== null && !RESULTS.includes(result)) fail(`'result' must be one of ${RESULTS.join(', ')}`)
  const row: OpcodeDeclaration = {
    ...{ name, value: value as number, doc: text('doc'), result, operator: text('operator') },
    ...{ x: oneOf('x', OPERANDS, 'none'), n: oneOf('n', OPERANDS, 'none') },
    ...{ pops: oneOf<StackEffect>('pops', EFFECTS, 0), pushes: oneOf<StackEffect>('pushes', EFFECTS, 0) },
    ...{ isChecked: flag('checked'), isPlain: flag('plain') },
  }
  if (row.doc === null && fields.length > 2) fail("an opcode that occurs in mobile files needs a 'doc'")
  if (result !== null && row.pushes !== 1) fail("'result' is of an opcode that leaves one value: expected 'pushes: 1'")
  return row
}
