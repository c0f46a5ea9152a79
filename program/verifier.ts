import { PtliteError } from '../runtime/error.js'
import { pace } from '../runtime/pace.js'
import type { FunctionCode } from './code.js'
import { EFFECT_LETTERS, Opcode, OPERAND_LETTERS, OperandKind, StackEffect } from './generated/opcodes.js'
import { column, OPCODE_NAMES } from './opcodes.js'
import type { LinkedFunction } from './linked.js'
import { checkStructures, unknownOpcode } from './unknown-instruction.js'
import { pathVerifier } from './verify-paths.js'

// numbers by opcode, which loops over tens of thousands of instructions are quickest with
const KIND = column(0, OPERAND_LETTERS)
const POPS = column(2, EFFECT_LETTERS)
const PUSHES = column(3, EFFECT_LETTERS)

/** Registers and attributes are arrays of this many entries at most. */
const MAX_REGISTERS = 1 << 20
const MAX_SLOTS = 1 << 16

/** Values that a call of the function takes off the stack, `self` included. Files before version 5 may only say so by their first instruction. */
export function argumentCount({ schema, code }: FunctionCode): number {
  if (schema !== null) return schema.args.length
  return code[0] === Opcode.STOREN ? code[2]! : code[0] === Opcode.STORE ? 1 : 0
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
  checkStructures(source)
  pace(4 * count)
  if (count === 0 || !Number.isInteger(count)) throw wrong(source, 0, 'the function has no code')
  if (!(registerSize >= 0 && registerSize <= MAX_REGISTERS))
    throw wrong(source, 0, `expected at most ${MAX_REGISTERS} registers, found ${registerSize}`)
  const registers = registerSize + 1
  /** What operands are less than, by kind. */
  const limits = [
    ...[0, Infinity, Infinity, operators.length, constants.length, constants.length, count, MAX_SLOTS, types.length, all.length],
    ...[registers, registers, types.length],
  ]
  /** Values on the stack before each instruction; -1 where no path has come by. */
  const depths = new Int32Array(count).fill(-1)
  /** Instructions that a path has come to, each of them once. */
  const reached = new Int32Array(count)
  let found = 0

  const reach = (from: number, pc: number, depth: number): void => {
    if (pc >= count) throw wrong(source, from, 'the code ends without RET')
    const known = depths[pc]!
    if (known === depth) return
    if (known >= 0) throw wrong(source, pc, `${known} values are on the stack on one path and ${depth} on another`)
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
    const name = OPCODE_NAMES[opcode] || `opcode ${opcode}`
    const kind = KIND[opcode] ?? -1
    if (kind < 0) throw unknownOpcode(source, pc, name)
    const target = kind === OperandKind.jump ? pc + x : x
    const first = kind === OperandKind.register || kind === OperandKind.registers ? 1 : 0
    const last = limits[kind]! - (kind === OperandKind.registers || kind === OperandKind.types ? n : 1)
    if (kind > 0 && (target < first || target > last)) throw wrong(source, pc, `${name} refers to ${target}; expected ${first} to ${last}`)
    checkOperands(fn, pc, opcode, x, n)
    if (depth < 0) return

    const operator = operators[x]!
    const returns = opcode > Opcode.OPN ? 0 : operator.returns
    const results = returns < 0 ? resultsOf(code, at) : returns
    // OPN has its own use of N
    if (returns < 0 && opcode === Opcode.OP) code[at + 2] = results
    const takes = opcode === Opcode.OP ? operator.given : opcode === Opcode.CALL ? argumentCount(all[x]!.source) : 0
    const pops = numberOf(POPS[opcode]!, x, n, takes)
    const pushes = numberOf(PUSHES[opcode]!, x, n, results)
    if (depth < pops) throw wrong(source, pc, `${name} takes ${pops} values; ${depth} are on the stack`)
    if (opcode === Opcode.RET && depth !== 1) throw wrong(source, pc, `expected one value on the stack at RET, found ${depth}`)
    const after = depth - pops + pushes
    if (kind === OperandKind.jump) reach(pc, target, opcode === Opcode.LOOP ? depth - 3 : after)
    // older files raise exceptions by an operator, and leave what they like on the stack behind it
    const raises = opcode <= Opcode.OPN ? operator.ends === true : opcode === Opcode.RAISE_EXCEPTION
    if (!raises && opcode !== Opcode.JMP && opcode !== Opcode.RET) reach(pc, pc + 1, after)
  }

  reach(0, 0, argumentCount(source))
  // it grows meanwhile; a loop around `check` would be compiled together with it, again
  reached.forEach(pathVerifier(fn, limits, depths, (pc) => (reached[found++] = pc), check))
  for (let pc = depths.indexOf(-1); pc >= 0; pc = depths.indexOf(-1, pc + 1)) check(pc)
}

/** How many values an effect is: a number by itself, X, N, N+1, or what a schema says. */
export function numberOf(effect: number, x: number, n: number, bySchema: number): number {
  return effect < StackEffect.x
    ? effect
    : effect === StackEffect.x
      ? x
      : effect === StackEffect.schema
        ? bySchema
        : n + effect - StackEffect.n
}

/** What is wrong with operands that are in range by themselves. Selective builds leave out the clauses of instructions that they have not got. */
function checkOperands({ operators, types, source }: LinkedFunction, pc: number, opcode: number, x: number, n: number): void {
  switch (opcode) {
    case Opcode.OP:
    case Opcode.OPN: {
      // from it vararg operators learn their number of arguments
      const { vararg, given, qualifiedName, isMissing } = operators[x]!
      if (isMissing === true) break
      if (vararg ? opcode === Opcode.OP : opcode === Opcode.OPN && n !== given)
        throw wrong(source, pc, `${qualifiedName} takes ${vararg ? 'any number of' : given} arguments, ${OPCODE_NAMES[opcode]} gives ${n}`)
      break
    }
    case Opcode.LOOP:
      if (n < 2) throw wrong(source, pc, `LOOP needs 2 values or more, found ${n}`)
      break
    case Opcode.INTERFACE_CALL:
      if (typeof source.constants[x] !== 'string' || n < 1)
        throw wrong(source, pc, `constant ${x} is not the name of a method of one of ${n} values`)
      break
    case Opcode.NAMED_TUPLE_CONSTRUCT: {
      const fields = types[x]!.fields?.length ?? n
      if (fields !== n) throw wrong(source, pc, `a NamedTuple of ${fields} fields is made from ${n} values`)
      break
    }
    case Opcode.DICT_CONSTRUCT:
      if (n % 2 !== 0) throw wrong(source, pc, `a dict of ${n} keys and values`)
  }
}

/** Results at this place of the code of an operator whose schema does not say how many: PyTorch stores several at once, right behind it. A single one may stay on the stack. */
export function resultsOf(code: Int32Array, at: number): number {
  return code[at] === Opcode.OP && code[at + 3] === Opcode.STOREN ? code[at + 5]! : 1
}

function wrong(source: FunctionCode, pc: number, message: string): PtliteError {
  return new PtliteError('INVALID_FILE', `${source.name}, instruction ${pc}: ${message}`)
}
