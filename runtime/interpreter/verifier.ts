import { PtliteError } from '../error.js'
import type { FunctionCode } from './code.js'
import { type Effect, OPCODES, type Operand } from './opcodes.js'
import type { LinkedFunction } from './program.js'

const OP = 0
const OPN = 1
const STOREN = 4
const STORE = 5
const JMP = 10
const LOOP = 11
const RET = 12
const CALL = 14
const INTERFACE_CALL = 20
const NAMED_TUPLE_CONSTRUCT = 25
const DICT_CONSTRUCT = 27
const RAISE_EXCEPTION = 32
const RAISE = 'prim::RaiseException'

const OPERANDS: readonly Operand[] = [
  '-', 'operator', 'register', 'registers', 'constant', 'method', 'jump', 'slot', 'type', 'types', 'function', 'count', 'index',
] // prettier-ignore
const REGISTER = 2
const REGISTERS = 3
const JUMP = 6
const TYPES = 9

/** Numbers of values that an operand says; fixed ones are not negative. */
const X = -1
const N = -2
const EFFECTS: Readonly<Record<string, number | undefined>> = { X, N, 'N+1': -3 }

// numbers by opcode, which loops over tens of thousands of instructions are quickest with
const KIND = Int8Array.from(OPCODES, (row) => (row.runs ? OPERANDS.indexOf(row.x) : -1))
const POPS = Int8Array.from(OPCODES, ({ pops }) => numberOf(pops))
const PUSHES = Int8Array.from(OPCODES, ({ pushes }) => numberOf(pushes))

function numberOf(effect: Effect): number {
  return typeof effect === 'number' ? effect : (EFFECTS[effect] ?? 0)
}

/** Registers and attributes are arrays of this many entries at most. */
const MAX_REGISTERS = 1 << 20
const MAX_SLOTS = 1 << 16

/** Values that a call of the function takes off the stack, `self` included. Files before version 5 may only say so by their first instruction. */
export function argumentCount(fn: FunctionCode): number {
  if (fn.schema !== null) return fn.schema.args.length
  return fn.code[0] === STOREN ? fn.code[2]! : fn.code[0] === STORE ? 1 : 0
}

/**
 * Proves before anything runs that every operand of `fn` is in range and that on every path the stack is as deep as each
 * instruction needs, the same wherever paths meet, and one value high at the end. `all` are the functions that
 * CALL counts. Throws INVALID_FILE naming function and instruction.
 *
 * Operators that push as many values as a tuple has elements get that number, which the instructions behind
 * them tell, as operand N; the interpreter holds them to it.
 */
export function verifyFunction(fn: LinkedFunction, all: readonly LinkedFunction[]): void {
  const { operators, types, source } = fn
  const { code, constants, registerSize } = source
  const count = code.length / 3
  if (code.length === 0 || code.length % 3 !== 0) throw wrong(fn, 0, 'the function has no code')
  if (!(registerSize >= 0 && registerSize <= MAX_REGISTERS))
    throw wrong(fn, 0, `expected at most ${MAX_REGISTERS} registers, found ${registerSize}`)
  const limits: Readonly<Record<Operand, number>> = {
    '-': Infinity,
    operator: operators.length,
    register: registerSize + 1,
    registers: registerSize + 1,
    constant: constants.length,
    method: constants.length,
    jump: count,
    slot: MAX_SLOTS,
    type: types.length,
    types: types.length,
    function: all.length,
    count: Infinity,
    index: Infinity,
  }
  const limitByKind = OPERANDS.map((kind) => limits[kind])
  /** Values on the stack before each instruction; -1 where no path has come by. */
  const depths = new Int32Array(count).fill(-1)
  /** Instructions that a path has come to, each of them once. */
  const reached = new Int32Array(count)
  let found = 0

  const reach = (from: number, pc: number, depth: number): void => {
    if (pc >= count) throw wrong(fn, from, 'the code ends without RET')
    const known = depths[pc]!
    if (known === depth) return
    if (known >= 0) throw wrong(fn, pc, `${known} values are on the stack on one path and ${depth} on another`)
    depths[pc] = depth
    reached[found++] = pc
  }

  /** Where no path comes by there are only operands to be checked. */
  const check = (pc: number, place = 0): void => {
    if (place >= found) return
    const depth = depths[pc]!
    const at = 3 * pc
    const opcode = code[at]!
    const x = code[at + 1]!
    const n = code[at + 2]!
    const kind = KIND[opcode] ?? -1
    const target = kind === JUMP ? pc + x : x
    const start = kind === REGISTER || kind === REGISTERS ? 1 : 0
    const end = limitByKind[kind]! - (kind === REGISTERS || kind === TYPES ? n : 1)
    const fits = kind >= 0 && n >= 0 && (kind === 0 || (target >= start && target <= end))
    const problem = fits ? problemOf(fn, opcode, x, n) : rangeText(opcode, target, n, start, end)
    if (problem !== null) throw wrong(fn, pc, problem)
    if (depth < 0) return

    let pops = POPS[opcode]!
    let pushes = PUSHES[opcode]!
    let ends = opcode === JMP || opcode === RET || opcode === RAISE_EXCEPTION
    if (opcode <= OPN) {
      const operator = operators[x]!
      pops = opcode === OP ? operator.given : n
      pushes = operator.returns >= 0 ? operator.returns : resultsOf(code, at)
      // older files raise exceptions by an operator, and leave what they like on the stack behind it
      ends = opcode === OP && operator.qualifiedName === RAISE
    } else if (opcode === CALL) pops = argumentCount(all[x]!.source)
    if (pops < 0) pops = pops === X ? x : pops === N ? n : n + 1
    if (pushes < 0) pushes = pushes === X ? x : n + 1
    if (depth < pops) throw wrong(fn, pc, `${OPCODES[opcode]!.name} takes ${pops} values; ${depth} are on the stack`)
    if (opcode === RET && depth !== 1) throw wrong(fn, pc, `expected one value on the stack at RET, found ${depth}`)
    const after = depth - pops + pushes
    if (kind === JUMP) reach(pc, target, opcode === LOOP ? depth - 3 : after)
    if (!ends) reach(pc, pc + 1, after)
  }

  reach(0, 0, argumentCount(source))
  // it grows meanwhile; a loop around `check` would be compiled together with it, again
  reached.forEach(check)
  for (let pc = depths.indexOf(-1); pc >= 0; pc = depths.indexOf(-1, pc + 1)) check(pc)
}

function rangeText(opcode: number, x: number, n: number, start: number, end: number): string {
  const row = OPCODES[opcode]
  if (row?.runs !== true) return `${row?.name ?? `opcode ${opcode}`} does not occur in mobile modules`
  return n < 0 ? `${row.name} counts ${n} values` : `${row.name} refers to ${row.x} ${x}; expected ${start} to ${end}`
}

/** What is wrong with operands that are in range by themselves, or null. */
function problemOf({ operators, types, source }: LinkedFunction, opcode: number, x: number, n: number): string | null {
  switch (opcode) {
    case OP:
      return operators[x]!.vararg ? `${operators[x]!.qualifiedName} takes any number of arguments, and OP gives none` : null
    case OPN: {
      // vararg operators learn their number of arguments from OPN
      const { vararg, given, qualifiedName } = operators[x]!
      return vararg || n === given ? null : `${qualifiedName} takes ${given} arguments, OPN gives ${n}`
    }
    case LOOP:
      return n < 2 ? `LOOP needs 2 values or more, found ${n}` : null
    case INTERFACE_CALL:
      return typeof source.constants[x] === 'string' && n > 0 ? null : `constant ${x} is not the name of a method of one of ${n} values`
    case NAMED_TUPLE_CONSTRUCT: {
      const fields = types[x]!.fields?.length ?? n
      return fields === n ? null : `a NamedTuple of ${fields} fields is made from ${n} values`
    }
    default:
      return opcode === DICT_CONSTRUCT && n % 2 !== 0 ? `a dict of ${n} keys and values` : null
  }
}

/** PyTorch stores several results of an operator at once, right behind it; a single one may stay on the stack. */
function resultsOf(code: Int32Array, at: number): number {
  // OPN has its own use of N
  if (code[at] === OPN) return 1
  return (code[at + 2] = code[at + 3] === STOREN ? code[at + 5]! : 1)
}

function wrong(fn: LinkedFunction, pc: number, message: string): PtliteError {
  return new PtliteError('INVALID_FILE', `${fn.source.name}, instruction ${pc}: ${message}`)
}
