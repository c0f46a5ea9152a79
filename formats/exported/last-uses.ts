import type { FunctionCode } from '../../program/code.js'
import { Opcode } from '../../program/generated/opcodes.js'
import { pace } from '../../runtime/pace.js'

/**
 * Code whose variables each have a register: the last load of a value moves it, so that its memory goes back as soon as it can, and what nobody loads is dropped at once.
 * Jumps go where they went. Registers up to `kept` stay as they are.
 */
export function withLastUses(source: FunctionCode, kept: number): FunctionCode {
  const code = source.code.slice()
  const blocks = blocksOf(code)
  const live = liveBehind(code, blocks, kept)
  blocks.forEach(({ first, end }, i) => {
    const now = live[i]!
    for (let pc = end - 1; pc >= first; pc--) {
      const [opcode, x] = [code[3 * pc]!, code[3 * pc + 1]!]
      if (opcode === Opcode.LOAD && x > kept) {
        if (!now.has(x)) code[3 * pc] = Opcode.MOVE
        now.add(x)
      } else if (opcode === Opcode.STORE && x > kept && !now.delete(x)) {
        code[3 * pc] = Opcode.DROP
        code[3 * pc + 1] = 0
      }
    }
  })
  return { ...source, code }
}

interface Block {
  readonly first: number
  readonly end: number
  /** Numbers of the blocks that may follow. */
  readonly next: readonly number[]
}

function isJump(opcode: number): boolean {
  return opcode === Opcode.JF || opcode === Opcode.JMP
}

function blocksOf(code: Int32Array): Block[] {
  const count = code.length / 3
  const leaders = new Set([0])
  for (let pc = 0; pc < count; pc++) {
    const opcode = code[3 * pc]!
    if (isJump(opcode)) leaders.add(pc + code[3 * pc + 1]!)
    if (isJump(opcode) || opcode === Opcode.RET || opcode === Opcode.RAISE_EXCEPTION) leaders.add(pc + 1)
  }
  const sorted = [...leaders].filter((pc) => pc < count).sort((a, b) => a - b)
  const numbers = new Map(sorted.map((first, i) => [first, i]))
  return sorted.map((first, i) => {
    const end = sorted[i + 1] ?? count
    const [opcode, x] = [code[3 * end - 3]!, code[3 * end - 2]!]
    const next: number[] = []
    if (isJump(opcode)) next.push(numbers.get(end - 1 + x)!)
    if (opcode !== Opcode.JMP && opcode !== Opcode.RET && opcode !== Opcode.RAISE_EXCEPTION && end < count) next.push(i + 1)
    return { first, end, next }
  })
}

/** Registers that are still loaded behind each block. */
function liveBehind(code: Int32Array, blocks: readonly Block[], kept: number): Set<number>[] {
  const before = blocks.map(() => new Set<number>())
  const behind = (at: number): Set<number> => {
    const set = new Set<number>()
    for (const next of blocks[at]!.next) for (const register of before[next]!) set.add(register)
    return set
  }
  for (let isFinal = false; !isFinal;) {
    isFinal = true
    for (let at = blocks.length - 1; at >= 0; at--) {
      const { first, end } = blocks[at]!
      const now = behind(at)
      for (let pc = end - 1; pc >= first; pc--) {
        const [opcode, x] = [code[3 * pc]!, code[3 * pc + 1]!]
        if (opcode === Opcode.STORE) now.delete(x)
        else if (opcode === Opcode.LOAD && x > kept) now.add(x)
      }
      pace(now.size + end - first)
      if (now.size === before[at]!.size) continue
      before[at] = now
      isFinal = false
    }
  }
  return blocks.map((_, at) => behind(at))
}
