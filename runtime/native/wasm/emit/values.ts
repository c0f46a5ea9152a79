import { Code, type Immediates } from './code.js'
import { INSTRUCTIONS, type Name, type ValueType } from './instructions.js'

/** What an expression leaves on the stack. It is computed where it is written: once, unless it is a local or a constant. */
export interface Value {
  readonly type: ValueType
  readonly write: () => void
}

/** A local, which may be read any number of times, and set again. */
export interface Local extends Value {
  readonly index: number
}

const scratch = new DataView(new ArrayBuffer(16))

/** Bits of a number as float32. */
export function bitsOf(value: number): number {
  scratch.setFloat32(0, value, true)
  return scratch.getInt32(0, true)
}

/** Writes functions as expressions. */
export class Values {
  readonly code: Code
  private readonly constants = new Map<number, Local>()

  constructor(parameters: readonly ValueType[]) {
    this.code = new Code(parameters)
  }

  parameter(index: number): Local {
    return this.local(index, this.code.parameters[index]!)
  }

  /** An instruction that gives a value. */
  op(name: Name, operands: readonly Value[], immediates: Immediates = {}): Value {
    const write = (): void => {
      for (const operand of operands) operand.write()
      this.code.emit(name, immediates)
    }
    return { type: INSTRUCTIONS[name].gives!, write }
  }

  /** An instruction that gives none: a store. */
  do(name: Name, operands: readonly Value[], immediates: Immediates = {}): void {
    for (const operand of operands) operand.write()
    this.code.emit(name, immediates)
  }

  /** Computes the value here and now. */
  keep(value: Value): Local {
    value.write()
    const index = this.code.local(value.type)
    this.code.emit('local.set', { index })
    return this.local(index, value.type)
  }

  set(local: Local, value: Value): void {
    value.write()
    this.code.emit('local.set', { index: local.index })
  }

  i32(value: number): Value {
    return { type: 'i32', write: () => this.code.emit('i32.const', { value }) }
  }

  /** A number in all lanes: a local that is set before the body, where engines would make it anew each time. */
  f32(value: number): Local {
    return this.bits(bitsOf(value))
  }

  bits(word: number): Local {
    const known = this.constants.get(word | 0)
    if (known !== undefined) return known
    const index = this.code.lasting('v128')
    const bytes = [0, 1, 2, 3].flatMap(() => [0, 8, 16, 24].map((shift) => (word >>> shift) & 0xff))
    this.code.before(() => {
      this.code.emit('v128.const', { bytes })
      this.code.emit('local.set', { index })
    })
    const local = this.local(index, 'v128')
    this.constants.set(word | 0, local)
    return local
  }

  private local(index: number, type: ValueType): Local {
    return { type, index, write: () => this.code.emit('local.get', { index }) }
  }
}
