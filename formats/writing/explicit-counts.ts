import type { FunctionCode } from '../../program/code.js'
import { linkFunctions } from '../../program/link.js'
import { withoutBounds } from '../../program/operator-table.js'
import { FIRST_WITH_COUNTS, type Program } from '../../program/program.js'

/**
 * The functions of a program by those of its file, with the numbers of arguments that operators are given: files of bytecode version 4 and 5 do not say them,
 * and newer ones must. What a file says of results is left out. Throws MISSING_OPERATOR, and UNSUPPORTED_FILE where they can be read in two ways.
 */
export function withExplicitCounts({ functions, bytecodeVersion, operatorVersion }: Program): ReadonlyMap<FunctionCode, FunctionCode> {
  if (bytecodeVersion >= FIRST_WITH_COUNTS) return new Map(functions.map((fn) => [fn, withoutBounds(fn)]))
  const linked = linkFunctions(functions, operatorVersion, new Map())
  return new Map(
    functions.map((fn, i) => {
      const operators = fn.operators.map((operator, k) => {
        const { entry, given } = linked[i]!.operators[k]!
        if (entry === null || entry.schema.isVararg || operator.argCount >= 0) return operator
        // what has no default in the schema, only files of these versions may leave out
        const { arguments: args } = entry.schema
        const omitted = args.filter(({ isOut }) => !isOut).slice(given - args.filter(({ isOut }) => isOut).length)
        return omitted.every(({ defaultValue }) => defaultValue !== undefined) ? { ...operator, argCount: given } : operator
      })
      return [fn, { ...fn, operators }]
    }),
  )
}
