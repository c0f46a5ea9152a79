import type { FunctionCode, OperatorName } from './code.js'
import { Opcode } from './generated/opcodes.js'

type CodeWithTable = Pick<FunctionCode, 'code' | 'operators'>

/** The same instructions with a table of the operators that they call, in the order of the first call: one for each that `keyOf` tells from the others. */
export function withCalledOperators(source: CodeWithTable, keyOf: (operator: OperatorName) => unknown): CodeWithTable {
  const code = source.code.slice()
  const operators: OperatorName[] = []
  const numbers = new Map<unknown, number>()
  for (let at = 0; at < code.length; at += 3) {
    if (code[at] !== Opcode.OP && code[at] !== Opcode.OPN) continue
    const operator = source.operators[code[at + 1]!]!
    const key = keyOf(operator)
    const number = numbers.get(key) ?? operators.push(operator) - 1
    numbers.set(key, number)
    code[at + 1] = number
  }
  return { code, operators }
}

/** A function whose operators say nothing of their results, which mobile modules have no place for. */
export function withoutBounds(fn: FunctionCode): FunctionCode {
  if (fn.operators.every(({ bounds }) => bounds === undefined)) return fn
  const { code, operators } = withCalledOperators(fn, ({ name, overload, argCount }) => `${argCount} ${name}.${overload}`)
  return { ...fn, code, operators: operators.map(({ name, overload, argCount }) => ({ name, overload, argCount })) }
}
