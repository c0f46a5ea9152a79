import type { FunctionArgument, FunctionCode, FunctionSchema, OperatorName } from '../interpreter/code.js'
import { OPCODE_BY_NAME } from '../interpreter/opcodes.js'
import { Tuple, type Value } from '../tensor/value.js'
import { damaged, describe, integerOf, textOf, tupleOf } from './file-error.js'
import { splitName } from './parsed.js'

const INT32_MIN = -(2 ** 31)
const INT32_MAX = 2 ** 31 - 1
const UINT16_MAX = 65535

/** The functions of a `bytecode.pkl` value, whose first element is the version. */
export function readFunctions(bytecode: readonly Value[], label: string): FunctionCode[] {
  return bytecode.slice(1).map((item, i) => readFunction(item, `${label}: function ${i}`))
}

function readFunction(value: Value, where: string): FunctionCode {
  const parts = tupleOf(value, where)
  if (parts.length !== 2 && parts.length !== 3) throw damaged(`${where}: expected a name, code and schema, found ${parts.length} parts`)
  const name = textOf(parts[0], `${where}, name`)
  const at = `${where} (${name})`
  const code = named(parts[1], `${at}, code`, ['instructions', 'operators', 'constants', 'types', 'register_size'])
  return {
    name,
    ...splitName(name),
    code: readInstructions(code[0], `${at}, instructions`),
    operators: tupleOf(code[1], `${at}, operators`).map((item) => readOperator(item, `${at}, operators`)),
    constants: tupleOf(code[2], `${at}, constants`),
    types: tupleOf(code[3], `${at}, types`).map((item) => textOf(item, `${at}, types`)),
    registerSize: integerOf(code[4], `${at}, register_size`, 0, UINT16_MAX),
    schema: parts.length === 3 && parts[2] !== null ? readSchema(parts[2], `${at}, schema`) : null,
  }
}

/** Values of a tuple of (key, value) pairs with these keys in this order. */
function named(value: Value | undefined, where: string, keys: readonly string[]): Value[] {
  return tupleOf(value, where, keys.length).map((pair, i) => {
    const [key, item] = tupleOf(pair, where, 2)
    if (key !== keys[i]) throw damaged(`${where}: expected '${keys[i]}', found ${describe(key)}`)
    return item!
  })
}

function readInstructions(value: Value | undefined, where: string): Int32Array {
  const items = tupleOf(value, where)
  const code = new Int32Array(3 * items.length)
  items.forEach((item, pc) => {
    const [name, x, n] = tupleOf(item, where, 3)
    const opcode = typeof name === 'string' ? OPCODE_BY_NAME.get(name) : undefined
    if (opcode === undefined) throw damaged(`${where}: instruction ${pc} is unknown: ${describe(name)}`)
    code[3 * pc] = opcode
    code[3 * pc + 1] = integerOf(x, where, INT32_MIN, INT32_MAX)
    code[3 * pc + 2] = integerOf(n, where, 0, UINT16_MAX)
  })
  return code
}

function readOperator(value: Value, where: string): OperatorName {
  const parts = tupleOf(value, where)
  if (parts.length !== 2 && parts.length !== 3)
    throw damaged(`${where}: expected a name, overload and number of arguments, found ${parts.length} parts`)
  return {
    name: textOf(parts[0], where),
    overload: textOf(parts[1], where),
    argCount: parts.length === 3 ? integerOf(parts[2], where, -1, UINT16_MAX) : -1,
  }
}

function readSchema(value: Value | undefined, where: string): FunctionSchema {
  const [args, returns] = named(value, where, ['arguments', 'returns'])
  return {
    args: tupleOf(args, where).map((item) => readArgument(item, where)),
    returns: tupleOf(returns, where).map((item) => ({ type: readArgument(item, where).type })),
  }
}

function readArgument(value: Value, where: string): FunctionArgument {
  const [name, type, defaultValue] = named(value instanceof Tuple ? value : null, where, ['name', 'type', 'default_value'])
  const text = textOf(type, where)
  return { name: textOf(name, where), type: text, default: defaultOf(text, defaultValue!) }
}

/** A stored default of None means no default, unless the type has None among its values. */
export function defaultOf(type: string, value: Value): Value | undefined {
  if (value !== null) return value
  return /^(Optional\[|NoneType$|None$|Any$|Union\[.*\b(None|NoneType)\b)/.test(type) || type.endsWith('?') ? null : undefined
}
