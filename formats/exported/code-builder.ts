import type { FunctionCode, FunctionSchema, OperatorName, ResultBounds } from '../../program/code.js'
import { withoutEmptyReads } from '../../program/empty-reads.js'
import { Opcode } from '../../program/generated/opcodes.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { withCalledOperators } from '../../program/operator-table.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { Device, type Value } from '../../runtime/tensor/value.js'
import { damaged } from '../../program/file-error.js'

/** A place in the code that jumps lead to. */
export interface Label {
  at: number
  readonly jumps: number[]
}

const MAX_REGISTERS = 65535

/** Writes the instructions of one function. Register 1 is `self`. */
export class CodeBuilder {
  private readonly code: number[] = []
  /** Of each instruction, the number of the node that it is of. */
  readonly origins: number[] = []
  private readonly operators: OperatorName[] = []
  private readonly constants: Value[] = []
  private readonly types: string[] = []
  private readonly known = new Map<string, number>()
  private readonly free: number[] = []
  private registers = 1
  /** The node that instructions are written for. */
  origin = -1

  emit(opcode: string, x = 0, n = 0): void {
    this.code.push(OPCODE_BY_NAME.get(opcode)!, x, n)
    this.origins.push(this.origin)
  }

  /** Calls an operator with the `given` values on the stack, which are all or the first of its arguments. */
  operator(qualifiedName: string, given: number, isVararg = false): void {
    const key = `o${given} ${qualifiedName}`
    let index = this.known.get(key)
    if (index === undefined) {
      const dot = qualifiedName.indexOf('.', qualifiedName.indexOf('::'))
      const [name, overload] = dot < 0 ? [qualifiedName, ''] : [qualifiedName.slice(0, dot), qualifiedName.slice(dot + 1)]
      index = this.operators.push({ name, overload, argCount: isVararg ? -1 : given }) - 1
      this.known.set(key, index)
    }
    if (isVararg) this.emit('OPN', index, given)
    else this.emit('OP', index)
  }

  /** Where the next instruction is written. */
  get end(): number {
    return this.code.length
  }

  /** The call of an operator that was written last is held to these bounds. Nothing is done where something else was written behind it, or where it has bounds. */
  bound(bounds: ResultBounds): void {
    this.boundAt(this.code.length - 3, bounds)
  }

  /** The calls of operators that were written from `start` on are held to these bounds, but for those that have others. */
  boundSince(start: number, bounds: ResultBounds): void {
    for (let at = start; at < this.code.length; at += 3) this.boundAt(at, bounds)
  }

  private boundAt(at: number, bounds: ResultBounds): void {
    if (this.code[at] !== Opcode.OP) return
    const operator = this.operators[this.code[at + 1]!]!
    if (operator.bounds !== undefined) return
    const key = `b${operator.argCount} ${operator.name}.${operator.overload} ${JSON.stringify(bounds)}`
    const index = this.known.get(key) ?? this.operators.push({ ...operator, bounds }) - 1
    this.known.set(key, index)
    this.code[at + 1] = index
  }

  /** Pushes a constant. */
  constant(value: Value): void {
    this.emit('LOADC', this.constantIndex(value))
  }

  private constantIndex(value: Value): number {
    const text = constantKey(value)
    const index = text === null ? undefined : this.known.get(text)
    if (index !== undefined) return index
    this.constants.push(value)
    if (text !== null) this.known.set(text, this.constants.length - 1)
    return this.constants.length - 1
  }

  /** The number of a type text. */
  type(text: string): number {
    const key = `t${text}`
    const index = this.known.get(key) ?? this.types.push(text) - 1
    this.known.set(key, index)
    return index
  }

  /** A register that nothing else uses until it is released. */
  allocate(): number {
    const register = this.free.pop() ?? ++this.registers
    if (register > MAX_REGISTERS) throw damaged(`more than ${MAX_REGISTERS} values are in use at a time`)
    return register
  }

  /** Registers for all arguments of the function, in order; before any other. */
  allocateRun(count: number): number {
    const first = this.registers + 1
    this.registers += count
    if (this.registers > MAX_REGISTERS) throw damaged(`more than ${MAX_REGISTERS} arguments`)
    return first
  }

  release(register: number): void {
    this.free.push(register)
  }

  label(): Label {
    return { at: -1, jumps: [] }
  }

  /** JF, which takes a bool off the stack and jumps where it is false, or JMP. */
  jump(opcode: 'JF' | 'JMP', label: Label): void {
    const from = this.code.length
    if (label.at < 0) label.jumps.push(from)
    this.emit(opcode, label.at < 0 ? 0 : (label.at - from) / 3)
  }

  place(label: Label): void {
    label.at = this.code.length
    for (const from of label.jumps) this.code[from + 1] = (label.at - from) / 3
  }

  finish(className: string, method: string, schema: FunctionSchema): FunctionCode {
    return withoutEmptyReads({
      name: `${className}.${method}`,
      className,
      method,
      // calls that were held to bounds have left what they called before in the table
      ...withCalledOperators({ code: Int32Array.from(this.code), operators: this.operators }, (operator) => operator),
      constants: this.constants,
      types: this.types,
      registerSize: this.registers,
      schema,
    })
  }
}

/** The same for equal constants; null for those that are not looked for. */
function constantKey(value: Value): string | null {
  if (value === null || typeof value !== 'object') return `${typeof value} ${String(value)}`
  if (value instanceof Float) return `f${Object.is(value.value, -0) ? '-0' : value.value}`
  if (value instanceof Device) return `d${value.toString()}`
  if (Array.isArray(value) && value.length < 100 && value.every((item) => typeof item !== 'string')) {
    const keys = value.map(constantKey)
    return keys.includes(null) ? null : `[${keys.join(',')}]`
  }
  return null
}
