import { CustomObject, type Value } from '../../../runtime/tensor/value.js'
import { PickleOp } from './opcodes.js'

/** Instructions (name, X, N) that follow each other, as numbers, three each: models have tens of thousands of them. They end before byte `end` of the pickle. */
export class Instructions extends CustomObject {
  constructor(
    readonly code: Int32Array,
    readonly end: number,
  ) {
    super('instructions', null)
  }
}

/**
 * Reads the instructions from `at` on, as long as their names are memoized ones and their operands are short. A loop that is quick before
 * engines have optimized it, which takes them little time. `room` has 3 words for each 7 bytes of the pickle, which is the least that an instruction takes.
 */
export function readInstructions(
  bytes: Uint8Array,
  at: number,
  memo: readonly Value[],
  opcodes: ReadonlyMap<Value, number>,
  room: Int32Array,
): Instructions {
  /** By the place of their name in the memo; -1 where it is another text. */
  const known: number[] = []
  let words = 0
  while (bytes[at] === PickleOp.BINGET) {
    const name = bytes[at + 1]!
    const opcode = (known[name] ??= opcodes.get(memo[name]!) ?? -1)
    const isLong = bytes[at + 2] === PickleOp.BININT2
    const end = isLong ? at + 8 : at + 7
    const isShort = bytes[end - 3] === PickleOp.BININT1 && (isLong || bytes[at + 2] === PickleOp.BININT1)
    if (opcode < 0 || !isShort || bytes[end - 1] !== PickleOp.TUPLE3) break
    room[words++] = opcode
    room[words++] = bytes[at + 3]! + (isLong ? 256 * bytes[at + 4]! : 0)
    room[words++] = bytes[end - 2]!
    at = end
  }
  return new Instructions(room.slice(0, words), at)
}
