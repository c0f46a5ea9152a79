import type { Offset } from 'flatbuffers'
import type { FunctionCode, FunctionSchema } from '../../program/code.js'
import { unsupported } from '../../program/file-error.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { FlatBuilder } from '../containers/flatbuffer/builder.js'
import { Field, Instruction } from './schema.js'

/** What a function's N fits in. */
const MAX_N = 2 ** 16 - 1

/** Numbers of what a function refers to. */
export interface FunctionReferences {
  readonly indexOf: (value: Value) => number
  readonly classOf: (name: string) => number
}

/** Writes a Function table. */
export function writeFlatFunction(builder: FlatBuilder, fn: FunctionCode, { indexOf, classOf }: FunctionReferences): Offset {
  const field = Field.function
  const constants = builder.int32s(fn.constants.map(indexOf))
  const schema = fn.schema === null ? 0 : writeSchema(builder, fn.schema, indexOf)
  const name = builder.text(fn.name)
  const instructions = writeInstructions(builder, fn.code)
  const operators = builder.offsets(fn.operators.map(({ name, overload, argCount }) => writeOperator(builder, name, overload, argCount)))
  const types = builder.texts(fn.types)
  // PyTorch reads the handles of functions without any
  const handles = builder.vector([], 8, () => undefined)
  const debug = builder.table(1, (b) => b.addFieldOffset(Field.debug.handles, handles, 0))
  const classType = classOf(fn.className)
  return builder.table(9, (b) => {
    b.addFieldOffset(field.name, name, 0)
    b.addFieldOffset(field.instructions, instructions, 0)
    b.addFieldOffset(field.operators, operators, 0)
    b.addFieldOffset(field.constants, constants, 0)
    b.addFieldOffset(field.types, types, 0)
    b.addFieldInt32(field.registerSize, fn.registerSize, 0)
    b.addFieldOffset(field.schema, schema, 0)
    b.addFieldOffset(field.debug, debug, 0)
    b.addFieldInt32(field.classType, classType, 0)
  })
}

function writeInstructions(builder: FlatBuilder, code: Int32Array): Offset {
  const starts = Array.from({ length: code.length / 3 }, (_, pc) => 3 * pc)
  if (starts.some((at) => code[at + 2]! > MAX_N))
    throw unsupported(`an instruction has more than ${MAX_N} values, which a flatbuffer cannot say`)
  return builder.vector(
    starts,
    Instruction.bytes,
    (b, at) => {
      b.writeInt32(code[at + 1]!)
      b.writeInt16(code[at + 2]!)
      b.pad(1)
      b.writeInt8(code[at]!)
    },
    4,
  )
}

function writeOperator(builder: FlatBuilder, name: string, overload: string, argCount: number): Offset {
  const field = Field.operator
  const texts = [builder.text(name), builder.text(overload)] as const
  return builder.table(3, (b) => {
    b.addFieldOffset(field.name, texts[0], 0)
    b.addFieldOffset(field.overload, texts[1], 0)
    b.addFieldInt32(field.argumentCount, argCount, -1)
  })
}

function writeSchema(builder: FlatBuilder, { args, returns }: FunctionSchema, indexOf: (value: Value) => number): Offset {
  const field = Field.argument
  const row = (name: string, type: string, value: number): Offset => {
    const texts = [builder.text(name), builder.text(type)] as const
    return builder.table(3, (b) => {
      b.addFieldOffset(field.name, texts[0], 0)
      b.addFieldOffset(field.type, texts[1], 0)
      b.addFieldInt32(field.defaultValue, value, 0)
    })
  }
  const rows = [
    builder.offsets(args.map((arg) => row(arg.name, arg.type, indexOf(arg.default ?? null)))),
    builder.offsets(returns.map(({ type }) => row('', type, 0))),
  ] as const
  return builder.table(2, (b) => {
    b.addFieldOffset(Field.schema.arguments, rows[0], 0)
    b.addFieldOffset(Field.schema.returns, rows[1], 0)
  })
}
