import type { FunctionCode, FunctionSchema } from '../../program/code.js'
import type { Value } from '../../runtime/tensor/value.js'
import { typeTextOf } from '../../program/file-error.js'
import { Field, Instruction } from './schema.js'
import type { FlatTable } from '../containers/flatbuffer/reader.js'
import { defaultOf, splitName } from '../reading/parsed.js'

/** Reads a Function table; `value` gives the value of an index. */
export function readFlatFunction(table: FlatTable, value: (index: number) => Value): FunctionCode {
  const field = Field.function
  const name = table.text(field.name)
  const schema = table.table(field.schema)
  const debug = table.table(field.debug)
  const handles = debug?.list(Field.debug.handles, 8, (at) => Number(table.reader.int64(at))) ?? []
  return {
    name,
    ...splitName(name),
    code: readInstructions(table),
    operators: table.tables(field.operators).map((operator) => ({
      name: operator.text(Field.operator.name),
      overload: operator.text(Field.operator.overload),
      argCount: Math.max(operator.int32(Field.operator.argumentCount, -1), -1),
    })),
    constants: table.uint32s(field.constants).map(value),
    types: table.texts(field.types).map((type) => typeTextOf(type)),
    registerSize: table.int32(field.registerSize),
    schema: schema === null ? null : readSchema(schema, value),
    ...(handles.length > 0 ? { debugHandles: Int32Array.from(handles) } : {}),
  }
}

function readInstructions(table: FlatTable): Int32Array {
  const { reader } = table
  const { start, length } = table.vector(Field.function.instructions, Instruction.bytes)
  reader.spend(12 * length)
  const code = new Int32Array(3 * length)
  for (let pc = 0; pc < length; pc++) {
    const at = start + pc * Instruction.bytes
    code[3 * pc] = reader.int8(at + Instruction.op)
    code[3 * pc + 1] = reader.int32(at + Instruction.x)
    code[3 * pc + 2] = reader.uint16(at + Instruction.n)
  }
  return code
}

function readSchema(table: FlatTable, value: (index: number) => Value): FunctionSchema {
  const field = Field.argument
  return {
    args: table.tables(Field.schema.arguments).map((argument) => {
      const type = typeTextOf(argument.text(field.type))
      return { name: argument.text(field.name), type, default: defaultOf(type, value(argument.uint32(field.defaultValue))) }
    }),
    returns: table.tables(Field.schema.returns).map((result) => ({ type: result.text(field.type) })),
  }
}
