import type { Expressions } from './expressions.js'
import type { Value } from './graph.js'
import type { ClassUnit } from './library.js'
import { callOperator } from './operator-calls.js'
import { dictOf, INT, STR, type Type } from './types.js'

/**
 * The module of a ModuleList or ModuleDict at a position or key that only a call knows. The modules are attributes of the container, named `0`, `1` and
 * so on, or by their keys; `wanted` is the interface that all of them have.
 */
export function moduleAt(code: Expressions, container: Value, unit: ClassUnit, key: Value, wanted: Type | undefined): Value {
  const { builder } = code
  const modules = [...unit.attributes].filter(([, { type }]) => type.kind === 'class' || type.kind === 'interface')
  const isList = modules.every(([name], i) => name === String(i))
  if (modules.length === 0 || (key.type === INT ? !isList : key.type !== STR))
    throw builder.wrong(`${unit.name} has no method __getitem__, and no modules by ${key.type.text}`)
  const values = modules.map(([, { slot, type }]) => builder.add({ kind: 'GET_ATTR', slot }, [container], type))
  const element = wanted ?? code.commonType(values)
  const items = values.map((value) => code.converted(value, element))
  if (key.type === INT) return callOperator(code, 'aten::__getitem__', [builder.list(element, items), key])
  const type = dictOf(STR, element)
  const pairs = items.flatMap((item, i) => [builder.constant(modules[i]![0]), item])
  return callOperator(code, 'aten::__getitem__', [builder.add({ kind: 'DICT_CONSTRUCT', type: type.text }, pairs, type), key])
}
