import { Bytes } from './bytes.js'
import { INSTRUCTIONS, isVector, type Name, type ValueType, VECTOR_PREFIX, vectorOpcode } from './instructions.js'

export const TYPE_BYTES: Readonly<Record<ValueType, number>> = { i32: 0x7f, f32: 0x7d, v128: 0x7b }

const BLOCK = 0x02
const LOOP = 0x03
const IF = 0x04
const ELSE = 0x05
const END = 0x0b
const BRANCH = 0x0c
const BRANCH_IF = 0x0d
const EMPTY = 0x40
/** A hint that engines ignore: tensors are aligned to their elements, not to vectors. */
const ALIGNMENT = 0

/** What instructions carry beside their operands. */
export interface Immediates {
  /** Added to the address. */
  readonly offset?: number
  readonly lane?: number
  readonly bytes?: ArrayLike<number>
  readonly value?: number
  /** Of a local. */
  readonly index?: number
}

/** A block or loop that is open; branches name it. */
export interface Label {
  readonly depth: number
}

/**
 * The body of a function. Control is structured, as the format has it: a branch to a block goes behind its end, one to a loop to its start.
 */
export class Code {
  private readonly body = new Bytes()
  private readonly first = new Bytes()
  private to = this.body
  private readonly locals: ValueType[] = []
  /** Locals that were given back. */
  private readonly free: Record<ValueType, number[]> = { i32: [], f32: [], v128: [] }
  private scope: { readonly type: ValueType; readonly index: number }[] | null = null
  private depth = 0

  constructor(readonly parameters: readonly ValueType[]) {}

  /** The number of a local, which is given back at the end of the innermost scope. */
  local(type: ValueType): number {
    const index = this.free[type].pop() ?? this.lasting(type)
    this.scope?.push({ type, index })
    return index
  }

  /** The number of a local of the whole function. */
  lasting(type: ValueType): number {
    return this.parameters.length + this.locals.push(type) - 1
  }

  /** The locals that `write` takes are others' behind it. */
  scoped<T>(write: () => T): T {
    const outer = this.scope
    this.scope = []
    const result = write()
    for (const { type, index } of this.scope) this.free[type].push(index)
    this.scope = outer
    return result
  }

  emit(name: Name, immediates: Immediates = {}): void {
    const instruction = INSTRUCTIONS[name]
    const { to } = this
    if (isVector(instruction)) to.byte(VECTOR_PREFIX).unsigned(vectorOpcode(instruction))
    else to.byte(instruction.opcode)
    const { offset = 0, lane = 0, bytes = [], value = 0, index = 0 } = immediates
    switch (instruction.immediate) {
      case 'memory':
        to.byte(ALIGNMENT).unsigned(offset)
        break
      case 'memory-lane':
        to.byte(ALIGNMENT).unsigned(offset).byte(lane)
        break
      case 'lane':
        to.byte(lane)
        break
      case 'bytes':
        to.all(bytes)
        break
      case 'i32':
        to.signed(value)
        break
      case 'f32':
        to.float32(value)
        break
      case 'index':
        to.unsigned(index)
        break
    }
  }

  /** What `write` emits runs before the body. Control is balanced in it. */
  before(write: () => void): void {
    const { to } = this
    this.to = this.first
    write()
    this.to = to
  }

  block(write: (label: Label) => void): void {
    this.structure(BLOCK, write)
  }

  loop(write: (label: Label) => void): void {
    this.structure(LOOP, write)
  }

  /** Takes the condition off the stack. */
  when(then: () => void, otherwise?: () => void): void {
    this.structure(IF, () => {
      then()
      if (otherwise === undefined) return
      this.to.byte(ELSE)
      otherwise()
    })
  }

  branch(label: Label): void {
    this.to.byte(BRANCH).unsigned(this.depth - label.depth)
  }

  /** Takes the condition off the stack. */
  branchIf(label: Label): void {
    this.to.byte(BRANCH_IF).unsigned(this.depth - label.depth)
  }

  private structure(opcode: number, write: (label: Label) => void): void {
    this.to.byte(opcode).byte(EMPTY)
    this.depth++
    write({ depth: this.depth })
    this.depth--
    this.to.byte(END)
  }

  /** The body as a module has it: declarations of locals, code, end. */
  finish(): Bytes {
    const to = new Bytes().unsigned(this.locals.length)
    for (const type of this.locals) to.unsigned(1).byte(TYPE_BYTES[type])
    return to.append(this.first).append(this.body).byte(END)
  }
}
