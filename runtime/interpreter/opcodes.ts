/**
 * The mobile instruction set, one row per opcode. The decoder, the verifier, the disassembler and the docs all
 * read this table; the loop in execute.ts has one case per row that `runs`.
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
  readonly meaning: string
}

type Row = readonly [name: string, x: Operand, n: Operand, pops: Effect, pushes: Effect, meaning: string]

const ROWS: readonly Row[] = [
  ['OP', 'operator', '-', 'schema', 'schema', 'run operator X'],
  ['OPN', 'operator', 'count', 'N', 'schema', 'run vararg operator X on N values'],
  ['LOAD', 'register', '-', 0, 1, 'push register X'],
  ['MOVE', 'register', '-', 0, 1, 'push register X and clear it'],
  ['STOREN', 'registers', 'count', 'N', 0, 'pop N values into registers X..X+N-1'],
  ['STORE', 'register', '-', 1, 0, 'pop into register X'],
  ['DROP', '-', '-', 1, 0, 'pop'],
  ['DROPR', 'register', '-', 0, 0, 'clear register X'],
  ['LOADC', 'constant', '-', 0, 1, 'push constant X'],
  ['JF', 'jump', '-', 1, 0, 'pop a bool, jump by X if it is false'],
  ['JMP', 'jump', '-', 0, 0, 'jump by X'],
  // where it jumps, LOOP leaves N-2 values
  ['LOOP', 'jump', 'count', 'N+1', 'N+1', 'next iteration, or keep the N-2 carried values and jump by X'],
  ['RET', '-', '-', 0, 0, 'leave the function'],
  ['WAIT', '-', '-', 1, 1, ''],
  ['CALL', 'function', '-', 'schema', 1, 'call function X'],
  ['GUARD', '-', '-', 0, 0, ''],
  ['TYPECHECK', '-', '-', 0, 0, ''],
  ['FAIL_GUARD', '-', '-', 0, 0, ''],
  ['PROFILE_OP', '-', '-', 0, 0, ''],
  ['TAIL_CALL', '-', '-', 0, 0, ''],
  ['INTERFACE_CALL', 'method', 'count', 'N', 1, 'call the method named by constant X of the object N values below the top'],
  ['GET_ATTR', 'slot', '-', 1, 1, 'pop an object, push its slot X'],
  ['SET_ATTR', 'slot', '-', 2, 0, 'pop a value and an object, set slot X'],
  ['LIST_UNPACK', 'count', '-', 1, 'X', 'pop a list of X values, push them'],
  ['TUPLE_CONSTRUCT', 'count', '-', 'X', 1, 'X values to a tuple'],
  ['NAMED_TUPLE_CONSTRUCT', 'type', 'count', 'N', 1, 'N values to a tuple of type X'],
  ['LIST_CONSTRUCT', 'type', 'count', 'N', 1, 'N values to a list of type X'],
  ['DICT_CONSTRUCT', 'type', 'count', 'N', 1, 'N values (key, value, ...) to a dict of type X'],
  ['CREATE_OBJECT', 'type', '-', 0, 1, 'push a new object of type X'],
  ['ISINSTANCE', 'types', 'count', 1, 1, 'pop a value, push whether it is of one of types X..X+N-1'],
  ['TUPLE_SLICE', 'index', 'count', 1, 1, 'pop a tuple, push its elements X..X+N-1 as a tuple'],
  ['TUPLE_INDEX', '-', '-', 2, 1, 'pop an index and a tuple, push the element'],
  ['RAISE_EXCEPTION', '-', '-', 2, 0, 'pop a class name and a message, raise'],
  ['DICT_INDEX', '-', '-', 2, 1, 'pop a key and a dict, push the value'],
  ['UNCHECKED_CAST', '-', '-', 1, 1, 'nothing'],
  ['__IS__', '-', '-', 2, 1, 'push whether two values are the same object'],
  ['UN_INITIALIZED', '-', '-', 0, 1, 'push a value that nobody reads'],
  ['__ISNOT__', '-', '-', 2, 1, 'push whether two values are different objects'],
  ['FORMAT', 'count', '-', 'X', 1, 'pop a format and X-1 arguments, push the text'],
  ['DEVICE', '-', '-', 1, 1, 'device of a tensor'],
  ['DTYPE', '-', '-', 1, 1, 'dtype number of a tensor'],
  ['DIM', '-', '-', 1, 1, 'number of dimensions of a tensor'],
  ['__NOT__', '-', '-', 1, 1, 'pop a bool, push its opposite'],
  ['TO_LIST', '-', '-', 3, 1, 'pop an element kind, a depth and a tensor, push nested lists'],
  ['NUM_TO_TENSOR', '-', '-', 1, 1, 'pop a number, push a 0-d tensor'],
  ['IS_CUDA', '-', '-', 1, 1, 'whether a tensor is on a GPU: false'],
  ['FORK', '-', '-', 0, 0, ''],
  ['WARN', 'index', '-', 2, 0, 'pop a stack level and a text, warn'],
  ['ENTER', '-', '-', 0, 0, ''],
  ['EXIT', '-', '-', 0, 0, ''],
  ['AWAITABLE', '-', '-', 0, 0, ''],
]

export const OPCODES: readonly OpcodeRow[] = ROWS.map(([name, x, n, pops, pushes, meaning], code) => ({
  code, name, x, n, pops, pushes, meaning, runs: meaning !== '',
})) // prettier-ignore

/** Opcode number by name, for reading `bytecode.pkl`. */
export const OPCODE_BY_NAME: ReadonlyMap<string, number> = new Map(OPCODES.map((row) => [row.name, row.code]))
