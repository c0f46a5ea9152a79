/**
 * The mobile instruction set, one row per opcode. The decoder, the verifier, the disassembler and the docs all
 * read this table; the loop in execute.ts has one case per row that `runs`. What each does stands in scripts/instruction-meanings.ts.
 */

/** What an operand of an instruction means. `-` is unused. */
export type Operand =
  | '-'
  | 'operator' // index into the function's operators
  | 'register' // 1 .. registerSize
  | 'registers' // first of N registers
  | 'constant' // index into the function's constants
  | 'method' // index of a constant that is a method name
  | 'jump' // relative to the instruction itself
  | 'slot' // attribute number
  | 'type' // index into the function's types
  | 'types' // first of N types
  | 'function' // index into the module's functions
  | 'count' // a number of values
  | 'index' // an element number

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

/** Name, X, N, pops, pushes; the name alone for opcodes that never occur in mobile files. */
const ROWS: readonly string[] = [
  'OP operator - schema schema',
  'OPN operator count N schema',
  'LOAD register - 0 1',
  'MOVE register - 0 1',
  'STOREN registers count N 0',
  'STORE register - 1 0',
  'DROP - - 1 0',
  'DROPR register - 0 0',
  'LOADC constant - 0 1',
  'JF jump - 1 0',
  'JMP jump - 0 0',
  // where it jumps, LOOP leaves N-2 values
  'LOOP jump count N+1 N+1',
  'RET - - 0 0',
  'WAIT',
  'CALL function - schema 1',
  'GUARD',
  'TYPECHECK',
  'FAIL_GUARD',
  'PROFILE_OP',
  'TAIL_CALL',
  'INTERFACE_CALL method count N 1',
  'GET_ATTR slot - 1 1',
  'SET_ATTR slot - 2 0',
  'LIST_UNPACK count - 1 X',
  'TUPLE_CONSTRUCT count - X 1',
  'NAMED_TUPLE_CONSTRUCT type count N 1',
  'LIST_CONSTRUCT type count N 1',
  'DICT_CONSTRUCT type count N 1',
  'CREATE_OBJECT type - 0 1',
  'ISINSTANCE types count 1 1',
  'TUPLE_SLICE index count 1 1',
  'TUPLE_INDEX - - 2 1',
  'RAISE_EXCEPTION - - 2 0',
  'DICT_INDEX - - 2 1',
  'UNCHECKED_CAST - - 1 1',
  '__IS__ - - 2 1',
  'UN_INITIALIZED - - 0 1',
  '__ISNOT__ - - 2 1',
  'FORMAT count - X 1',
  'DEVICE - - 1 1',
  'DTYPE - - 1 1',
  'DIM - - 1 1',
  '__NOT__ - - 1 1',
  'TO_LIST - - 3 1',
  'NUM_TO_TENSOR - - 1 1',
  'IS_CUDA - - 1 1',
  'FORK',
  'WARN index - 2 0',
  'ENTER',
  'EXIT',
  'AWAITABLE',
]

export const OPCODES: readonly OpcodeRow[] = ROWS.map((row, code) => {
  const [name, x = '-', n = '-', pops = '0', pushes = '0'] = row.split(' ')
  return { code, name: name!, x: x as Operand, n: n as Operand, pops: effectOf(pops), pushes: effectOf(pushes), runs: row.includes(' ') }
})

function effectOf(text: string): Effect {
  return /^\d/.test(text) ? Number(text) : (text as Effect)
}

/** Opcode number by name, for reading `bytecode.pkl`. */
export const OPCODE_BY_NAME: ReadonlyMap<string, number> = new Map(OPCODES.map((row) => [row.name, row.code]))
