import type { FunctionCode, OperatorName } from './code.js'
import { OPCODE_BY_NAME } from './opcodes.js'

const SLICE: OperatorName = { name: 'aten::slice', overload: 'Tensor', argCount: 5 }
const CLONE: OperatorName = { name: 'aten::clone', overload: '', argCount: 2 }

/**
 * The code of a method that gives of its first tensor the last row alone, [..., 1, columns], where the schema says that it returns a tensor, a tuple that
 * begins with one, or anything, or there is none. Null for other methods.
 */
export function lastRowCode(source: FunctionCode): FunctionCode | null {
  const items = returnedItems(source)
  return items === null ? null : withLastRow(source, items)
}

/** `items`: of the tuple that it returns, 0 where that is a tensor, or anything else, which is returned as it is. */
export function withLastRow(source: FunctionCode, items: number): FunctionCode {
  const { code, operators, constants, types, registerSize } = source
  const [returns, jumps] = [OPCODE_BY_NAME.get('RET')!, OPCODE_BY_NAME.get('JMP')!]
  // wherever it returned, it goes on behind its code
  const body = code.slice()
  for (let at = 0; at < code.length; at += 3) if (code[at] === returns) body.set([jumps, (code.length - at) / 3], at)
  const result = registerSize + 1
  const first = constants.length
  // the items' numbers, and arguments of slice and clone
  const added = [...new Array<null>(items).keys(), -2, -1, null, 1]
  const [dim, start, none, step] = [0, 1, 2, 3].map((i) => first + items + i) as [number, number, number, number]
  const op = (name: string, x = 0, n = 0): number[] => [OPCODE_BY_NAME.get(name)!, x, n]
  const item = (i: number): number[] => [...op('LOAD', result), ...op('LOADC', first + i), ...op('TUPLE_INDEX')]
  const cut = [
    ...[dim, start, none, step].flatMap((constant) => op('LOADC', constant)),
    ...op('OP', operators.length),
    // memory of its own, so that the whole can go
    ...op('LOADC', none),
    ...op('OP', operators.length + 1),
  ]
  const load = op('LOAD', result)
  const given = [
    ...load,
    ...op('ISINSTANCE', types.length, 1),
    ...op('JF', 1 + (load.length + cut.length) / 3 + 1),
    ...load,
    ...cut,
    ...op('JMP', 2),
    ...load,
  ]
  const rebuilt = [...item(0), ...cut, ...[...new Array<null>(items).keys()].slice(1).flatMap(item), ...op('TUPLE_CONSTRUCT', items)]
  return {
    ...source,
    code: Int32Array.from([...body, ...op('STORE', result), ...(items > 0 ? rebuilt : given), ...op('RET')]),
    operators: [...operators, SLICE, CLONE],
    constants: [...constants, ...added],
    types: [...types, 'Tensor'],
    registerSize: result,
    debugHandles: undefined,
    lastRowOf: items,
  }
}

/** How many items the tuple has that a method returns, 0 where it may be a tensor; null where the schema says something else. */
function returnedItems({ schema }: FunctionCode): number | null {
  if (schema === null) return 0
  const [returned] = schema.returns
  if (schema.returns.length !== 1 || returned === undefined) return null
  if (returned.type === 'Tensor' || returned.type === 'Any') return 0
  const inside = /^Tuple\[(Tensor(, .*)?)\]$/.exec(returned.type)?.[1]
  if (inside === undefined) return null
  let depth = 0
  let items = 1
  for (const letter of inside) {
    if (letter === '[') depth++
    else if (letter === ']') depth--
    else if (letter === ',' && depth === 0) items++
  }
  return items
}
