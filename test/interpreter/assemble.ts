import type { FunctionCode } from '../../program/code.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import type { LinkedFunction, LinkedOperator } from '../../program/linked.js'
import type { ProgramInstance } from '../../interpreter/run-state.js'
import { ArgumentUse } from '../../program/linked.js'
import { parseType, type TypeNode } from '../../program/types.js'
import { ScriptObject, type Stack, type Value } from '../../runtime/tensor/value.js'

export interface Assembly {
  /** One instruction a line: `LOADC 0`, `LIST_CONSTRUCT 0 2`. */
  readonly code: string
  readonly constants?: readonly Value[]
  readonly types?: readonly string[]
  readonly registers?: number
  readonly operators?: readonly LinkedOperator[]
  readonly name?: string
}

/** A function from assembly text, not verified. */
export function assemble(source: Assembly): LinkedFunction {
  const name = source.name ?? '__torch__.M.forward'
  const dot = name.lastIndexOf('.')
  const code = source.code
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [op, x = '0', n = '0'] = line.trim().split(/\s+/)
      const number = OPCODE_BY_NAME.get(op!)
      if (number === undefined) throw new Error(`no opcode ${op}`)
      return [number, Number(x), Number(n)]
    })
  const types = source.types ?? []
  const fn: FunctionCode = {
    name,
    method: name.slice(dot + 1),
    className: name.slice(0, dot),
    code: Int32Array.from(code),
    operators: (source.operators ?? []).map((op) => ({ name: op.qualifiedName, overload: '', argCount: op.given })),
    constants: source.constants ?? [],
    types,
    registerSize: source.registers ?? 4,
    schema: null,
  }
  const named = new Map<string, TypeNode>()
  return { source: fn, operators: source.operators ?? [], types: types.map((t) => parseType(t, named)), promoted: new Map() }
}

/** An operator that calls a TypeScript function on its arguments and pushes its results. */
export function operator(
  name: string,
  given: number,
  fn: (...args: Value[]) => Value[],
  use: ArgumentUse = ArgumentUse.read,
): LinkedOperator {
  const call = (stack: Stack): void => {
    stack.top -= given
    const results = fn(...stack.values.slice(stack.top, stack.top + given))
    for (const r of results) stack.values[stack.top++] = r
  }
  return { qualifiedName: name, entry: null, call, given, defaults: null, outs: 0, use, vararg: false, returns: 1 }
}

/** A program of these functions, without a module. */
export function programOf(...functions: LinkedFunction[]): ProgramInstance & { warnings: string[] } {
  const warnings: string[] = []
  return {
    root: undefined,
    functions,
    warnings,
    findMethod: (className, method) => functions.find((f) => f.source.name === `${className}.${method}`),
    attributeWrites: 0,
    createObject: (typeName) => new ScriptObject(typeName, [], []),
    warn: (text) => warnings.push(text),
    placeText: () => undefined,
  }
}
