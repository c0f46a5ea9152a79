import type { FunctionCode, FunctionSchema, OperatorName } from '../../program/code.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { unknownInstruction } from '../../program/unknown-instruction.js'
import type { Value } from '../../runtime/tensor/value.js'
import { guarded, integerOf, textOf, tupleOf, typeTextOf, unexpected } from '../../program/file-error.js'
import { defaultOf, splitName } from '../reading/parsed.js'
import { Instructions } from '../containers/pickle/instructions.js'
import type { ValueBudget } from '../containers/value-budget.js'

const INT32_MIN = -(2 ** 31)
const INT32_MAX = 2 ** 31 - 1
const UINT16_MAX = 65535

/** A function of `bytecode.pkl`: its name, its code and, in newer files, its schema. `handles` are those of files with debug information, by name. */
export function readFunction(value: Value, handles?: ReadonlyMap<string, Int32Array>, budget?: ValueBudget): FunctionCode {
  const [first, table, schema = null] = tupleOf(value, 2, 3)
  const name = textOf(first)
  return guarded(name, () => {
    const [instructions, operators, constants, types, registers] = named(
      table,
      'instructions',
      'operators',
      'constants',
      'types',
      'register_size',
    )
    // functions may have all of these in common, and a file the same function many times
    for (const items of [operators, constants, types]) budget?.spend(4 * tupleOf(items).length)
    const runs = tupleOf(instructions).map((item) => (item instanceof Instructions ? item.code : readInstruction(item)))
    const code = joined(runs, budget)
    return {
      name,
      ...splitName(name),
      code,
      operators: tupleOf(operators).map(readOperator),
      constants: tupleOf(constants),
      types: tupleOf(types).map((type) => typeTextOf(type)),
      registerSize: integerOf(registers, 0, UINT16_MAX),
      schema: schema === null ? null : readSchema(schema, budget),
      debugHandles: handles?.get(name),
    }
  })
}

/** Values of a tuple of (key, value) pairs with these keys in this order. */
function named(value: Value | undefined, ...keys: readonly string[]): Value[] {
  return tupleOf(value, keys.length).map((pair, i) => {
    const [key, item] = tupleOf(pair, 2)
    if (key !== keys[i]) throw unexpected(`'${keys[i]}'`, key)
    return item!
  })
}

function joined(runs: readonly ArrayLike<number>[], budget: ValueBudget | undefined): Int32Array {
  const length = runs.reduce((sum, run) => sum + run.length, 0)
  budget?.spend(length)
  const code = new Int32Array(length)
  let at = 0
  for (const run of runs) {
    code.set(run, at)
    at += run.length
  }
  return code
}

function readInstruction(value: Value): [opcode: number, x: number, n: number] {
  const [name, x, n] = tupleOf(value, 3)
  const opcode = OPCODE_BY_NAME.get(name as string)
  if (opcode === undefined) throw unknownInstruction(name)
  return [opcode, integerOf(x, INT32_MIN, INT32_MAX), integerOf(n, 0, UINT16_MAX)]
}

/** Without the number of arguments in older files. */
function readOperator(value: Value): OperatorName {
  const [name, overload, argCount = -1] = tupleOf(value, 2, 3)
  return { name: textOf(name), overload: textOf(overload), argCount: integerOf(argCount, -1, UINT16_MAX) }
}

function readSchema(value: Value, budget: ValueBudget | undefined): FunctionSchema {
  const [args, returns] = named(value, 'arguments', 'returns').map((items) => {
    budget?.spend(4 * tupleOf(items).length)
    return tupleOf(items).map(readArgument)
  })
  return { args: args!, returns: returns!.map(({ type }) => ({ type })) }
}

function readArgument(value: Value): FunctionSchema['args'][number] {
  const [name, type, defaultValue] = named(value, 'name', 'type', 'default_value')
  const text = typeTextOf(type)
  return { name: textOf(name), type: text, default: defaultOf(text, defaultValue!) }
}
