import { PtliteError } from '../error.js'
import type { FunctionCode } from './code.js'
import { type Effect, OPCODES, type OpcodeRow, type Operand } from './opcodes.js'
import type { LinkedFunction } from './program.js'

const OP = 0
const OPN = 1
const STOREN = 4
const STORE = 5
const JMP = 10
const LOOP = 11
const RET = 12
const CALL = 14
const NAMED_TUPLE_CONSTRUCT = 25
const DICT_CONSTRUCT = 27
const RAISE_EXCEPTION = 32
const RAISE = 'prim::RaiseException'

/** Instructions after which execution does not go on with the next one. */
const ENDS: ReadonlySet<number> = new Set([JMP, RET, RAISE_EXCEPTION])
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
  new Verifier(fn, all).run()
}

class Verifier {
  private readonly code: Int32Array
  private readonly count: number
  /** Stack depth before each instruction; -1 where none has come by. */
  private readonly depths: Int32Array

  constructor(
    private readonly fn: LinkedFunction,
    private readonly all: readonly LinkedFunction[],
  ) {
    this.code = fn.source.code
    this.count = Math.floor(this.code.length / 3)
    this.depths = new Int32Array(this.count).fill(-1)
  }

  run(): void {
    const { source } = this.fn
    if (this.count === 0 || this.code.length % 3 !== 0) throw this.error(0, 'the function has no code')
    if (!(source.registerSize >= 0 && source.registerSize <= MAX_REGISTERS)) {
      throw this.error(0, `expected at most ${MAX_REGISTERS} registers, found ${source.registerSize}`)
    }
    for (let pc = 0; pc < this.count; pc++) this.checkOperands(pc)
    this.checkDepths(argumentCount(source))
  }

  private checkOperands(pc: number): void {
    const row = OPCODES[this.code[3 * pc]!]
    if (row === undefined) throw this.error(pc, `there is no opcode ${this.code[3 * pc]}`)
    if (!row.runs) throw this.error(pc, `${row.name} does not occur in mobile modules`)
    const x = this.code[3 * pc + 1]!
    const n = this.code[3 * pc + 2]!
    if (row.n === 'count' && n < 0) throw this.error(pc, `${row.name} counts ${n} values`)
    this.checkOperand(pc, row, row.x, x, n)
    if (row.code === OP || row.code === OPN) this.checkOperator(pc, row, x, n)
    if (row.code === DICT_CONSTRUCT && n % 2 !== 0) throw this.error(pc, `a dict of ${n} keys and values`)
    if (row.code === LOOP && n < 2) throw this.error(pc, `LOOP needs 2 values or more, found ${n}`)
    if (row.code === NAMED_TUPLE_CONSTRUCT) {
      const fields = this.fn.types[x]!.fields?.length ?? n
      if (fields !== n) throw this.error(pc, `a NamedTuple of ${fields} fields is made from ${n} values`)
    }
  }

  private checkOperand(pc: number, row: OpcodeRow, kind: Operand, x: number, n: number): void {
    const { source, types } = this.fn
    switch (kind) {
      case 'operator':
        return this.checkRange(pc, row, 'operator', x, 0, this.fn.operators.length)
      case 'register':
        return this.checkRange(pc, row, 'register', x, 1, source.registerSize + 1)
      case 'registers':
        if (n > 0) this.checkRange(pc, row, 'register', x, 1, source.registerSize + 2 - n)
        return
      case 'constant':
        return this.checkRange(pc, row, 'constant', x, 0, source.constants.length)
      case 'method':
        this.checkRange(pc, row, 'constant', x, 0, source.constants.length)
        if (typeof source.constants[x] !== 'string') throw this.error(pc, `constant ${x} is not the name of a method`)
        if (n < 1) throw this.error(pc, 'a method is called without an object')
        return
      case 'jump':
        return this.checkRange(pc, row, 'jump target', pc + x, 0, this.count)
      case 'slot':
        return this.checkRange(pc, row, 'attribute', x, 0, MAX_SLOTS)
      case 'type':
        return this.checkRange(pc, row, 'type', x, 0, types.length)
      case 'types':
        return this.checkRange(pc, row, 'type', x, 0, types.length + 1 - n)
      case 'function':
        return this.checkRange(pc, row, 'function', x, 0, this.all.length)
      case 'count':
      case 'index':
        if (x < 0) throw this.error(pc, `${row.name} has the negative number ${x}`)
        return
      case '-':
        return
    }
  }

  private checkRange(pc: number, row: OpcodeRow, what: string, value: number, from: number, to: number): void {
    if (value < from || value >= to) throw this.error(pc, `${row.name} refers to ${what} ${value}; expected ${from} to ${to - 1}`)
  }

  /** Vararg operators learn their number of arguments from OPN, and no others do. */
  private checkOperator(pc: number, row: OpcodeRow, x: number, n: number): void {
    const operator = this.fn.operators[x]!
    if (row.code === OP && operator.vararg)
      throw this.error(pc, `${operator.qualifiedName} takes any number of arguments, and OP gives none`)
    if (row.code === OPN && !operator.vararg && n !== operator.given) {
      throw this.error(pc, `${operator.qualifiedName} takes ${operator.given} arguments, OPN gives ${n}`)
    }
  }

  private checkDepths(atEntry: number): void {
    const pending: number[] = []
    const reach = (from: number, pc: number, depth: number): void => {
      if (pc >= this.count) throw this.error(from, 'the code ends without RET')
      const known = this.depths[pc]!
      if (known === depth) return
      if (known >= 0) throw this.error(pc, `${known} values are on the stack on one path and ${depth} on another`)
      this.depths[pc] = depth
      pending.push(pc)
    }
    reach(0, 0, atEntry)
    while (pending.length > 0) {
      const pc = pending.pop()!
      const row = OPCODES[this.code[3 * pc]!]!
      const depth = this.depths[pc]!
      const pops = this.effect(pc, row.pops, true)
      if (depth < pops) throw this.error(pc, `${row.name} takes ${pops} values; ${depth} are on the stack`)
      if (row.code === RET && depth !== 1) throw this.error(pc, `expected one value on the stack at RET, found ${depth}`)
      const after = depth - pops + this.effect(pc, row.pushes, false)
      if (row.x === 'jump') {
        const left = row.code === LOOP ? depth - 3 : after
        reach(pc, pc + this.code[3 * pc + 1]!, left)
      }
      if (!this.ends(pc)) reach(pc, pc + 1, after)
    }
  }

  /** Older files raise exceptions by an operator, and leave what they like on the stack behind it. */
  private ends(pc: number): boolean {
    const opcode = this.code[3 * pc]!
    return ENDS.has(opcode) || (opcode === OP && this.fn.operators[this.code[3 * pc + 1]!]!.qualifiedName === RAISE)
  }

  private effect(pc: number, effect: Effect, pops: boolean): number {
    if (typeof effect === 'number') return effect
    const x = this.code[3 * pc + 1]!
    const n = this.code[3 * pc + 2]!
    if (effect === 'X') return x
    if (effect === 'N') return n
    if (effect === 'N+1') return n + 1
    if (this.code[3 * pc] === CALL) return argumentCount(this.all[x]!.source)
    const operator = this.fn.operators[x]!
    if (pops) return operator.given
    return operator.returns >= 0 ? operator.returns : this.unpacked(pc)
  }

  /** PyTorch stores several results of an operator at once, right behind it; a single one may stay on the stack. */
  private unpacked(pc: number): number {
    // OPN has its own use of N
    if (this.code[3 * pc] === OPN) return 1
    const results = this.code[3 * pc + 3] === STOREN ? this.code[3 * pc + 5]! : 1
    this.code[3 * pc + 2] = results
    return results
  }

  private error(pc: number, message: string): PtliteError {
    return new PtliteError('INVALID_FILE', `${this.fn.source.name}, instruction ${pc}: ${message}`)
  }
}
