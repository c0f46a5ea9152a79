import { argumentCount, numberOf, resultsOf } from './verifier.js'
import { EFFECT_LETTERS, Opcode } from './generated/opcodes.js'
import type { LinkedFunction } from './linked.js'
import { column } from './opcodes.js'

const POPS = column(2, EFFECT_LETTERS)
const PUSHES = column(3, EFFECT_LETTERS)
/** More than any instruction of a file that was verified leaves. */
const MOST = 1 << 16

/** How many values the instruction at `pc` takes off the stack and leaves there. `all` are the functions that CALL counts. Code that was not verified gives numbers, too. */
export function stackEffect(
  { source, operators }: LinkedFunction,
  pc: number,
  all: readonly LinkedFunction[],
): { readonly pops: number; readonly pushes: number } {
  const { code } = source
  const [opcode, x, n] = [code[3 * pc]!, code[3 * pc + 1]!, code[3 * pc + 2]!]
  const operator = opcode <= Opcode.OPN ? operators[x] : undefined
  const callee = opcode === Opcode.CALL ? all[x] : undefined
  const takes = operator !== undefined ? operator.given : callee === undefined ? 0 : argumentCount(callee.source)
  const returns = operator?.returns ?? 0
  const leaves = returns < 0 ? resultsOf(code, 3 * pc) : returns
  const bounded = (count: number): number => Math.min(Math.max(count, 0), MOST)
  return { pops: bounded(numberOf(POPS[opcode] ?? 0, x, n, takes)), pushes: bounded(numberOf(PUSHES[opcode] ?? 0, x, n, leaves)) }
}
