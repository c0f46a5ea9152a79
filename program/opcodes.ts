/**
 * The mobile instruction set, one row per opcode. The decoder, the verifier, the disassembler and the docs all
 * read this table; the loop in execute.ts has one case per row that `runs`. What each does stands in scripts/instruction-meanings.ts.
 */

/** What an operand of an instruction means. `-` is unused. */
export type Operand =
  | '-'
  | 'count' // a number of values
  | 'index' // an element number
  | 'operator' // index into the function's operators
  | 'constant' // index into the function's constants
  | 'method' // index of a constant that is a method name
  | 'jump' // relative to the instruction itself
  | 'slot' // attribute number
  | 'type' // index into the function's types
  | 'function' // index into the module's functions
  | 'register' // 1 .. registerSize
  | 'registers' // first of N registers
  | 'types' // first of N types

/** Values taken from or left on the stack: a number, an operand, or what the operator's or function's schema says. */
export type Effect = number | 'X' | 'N' | 'N+1' | 'schema'

export interface OpcodeRow {
  readonly code: number
  readonly name: string
  readonly x: Operand
  readonly n: Operand
  readonly pops: Effect
  readonly pushes: Effect
  /** False for opcodes that never occur in mobile files. */
  readonly runs: boolean
}

/** Letters of operands in ROWS. */
export const OPERAND_LETTERS = '-ciokmjstfrRT'
/** Letters of effects in ROWS: digits are numbers of values, `+` is N+1, `?` what the schema says. */
export const EFFECT_LETTERS = '0123XN+?'

/**
 * One row per opcode: name, and a letter each for X, N, pops and pushes; the name alone for opcodes that never occur in mobile files.
 * Where it jumps, LOOP leaves N-2 values.
 */
const ROWS = `\
OP o-??
OPN ocN?
LOAD r-01
MOVE r-01
STOREN RcN0
STORE r-10
DROP --10
DROPR r-00
LOADC k-01
JF j-10
JMP j-00
LOOP jc++
RET --00
WAIT
CALL f-?1
GUARD
TYPECHECK
FAIL_GUARD
PROFILE_OP
TAIL_CALL
INTERFACE_CALL mcN1
GET_ATTR s-11
SET_ATTR s-20
LIST_UNPACK c-1X
TUPLE_CONSTRUCT c-X1
NAMED_TUPLE_CONSTRUCT tcN1
LIST_CONSTRUCT tcN1
DICT_CONSTRUCT tcN1
CREATE_OBJECT t-01
ISINSTANCE Tc11
TUPLE_SLICE ic11
TUPLE_INDEX --21
RAISE_EXCEPTION --20
DICT_INDEX --21
UNCHECKED_CAST --11
__IS__ --21
UN_INITIALIZED --01
__ISNOT__ --21
FORMAT c-X1
DEVICE --11
DTYPE --11
DIM --11
__NOT__ --11
TO_LIST --31
NUM_TO_TENSOR --11
IS_CUDA --11
FORK
WARN i-20
ENTER
EXIT
AWAITABLE`.split('\n')

export const OPCODE_NAMES: readonly string[] = ROWS.map((row) => row.split(' ', 1)[0]!)

/** Opcode number by name, for reading `bytecode.pkl`. */
export const OPCODE_BY_NAME: ReadonlyMap<string, number> = new Map(OPCODE_NAMES.map((name, code) => [name, code]))

/** By opcode, what number a letter of its row has in `letters`: 0 for X, 1 for N, 2 for pops, 3 for pushes. -1 for opcodes that never occur. */
export function column(place: number, letters: string): Int8Array {
  return Int8Array.from(ROWS, (row) => letters.indexOf(row.split(' ')[1]?.[place] ?? ' '))
}

const OPERANDS: readonly Operand[] = [
  '-', 'count', 'index', 'operator', 'constant', 'method', 'jump', 'slot', 'type', 'function', 'register', 'registers', 'types',
] // prettier-ignore
const EFFECTS: readonly Effect[] = [0, 1, 2, 3, 'X', 'N', 'N+1', 'schema']

/** The rows in words. */
export const OPCODES: readonly OpcodeRow[] = ROWS.map((row, code) => {
  const [name, letters = '--00'] = row.split(' ')
  const operand = (place: number): Operand => OPERANDS[OPERAND_LETTERS.indexOf(letters[place]!)]!
  const effect = (place: number): Effect => EFFECTS[EFFECT_LETTERS.indexOf(letters[place]!)]!
  return { code, name: name!, x: operand(0), n: operand(1), pops: effect(2), pushes: effect(3), runs: row.includes(' ') }
})
