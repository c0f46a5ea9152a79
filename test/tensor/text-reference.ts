import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { valueText } from '../../runtime/operators/builtin/support/value-text.js'

/** What Python's str() writes, by its definition: recursion over everything, `[...]` for what is being written. */
export function textByDefinition(value: Value, within: readonly Value[] = []): string {
  const list = Array.isArray(value)
  if (!(list || value instanceof Tuple || value instanceof Map)) return valueText(value)
  const [left, right] = list ? '[]' : value instanceof Tuple ? '()' : '{}'
  if (within.includes(value)) return `${left}...${right}`
  const inside = [...within, value]
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${String(key)}: ${textByDefinition(item, inside)}`).join(', ')}}`
  }
  const items = (list ? value : value.items).map((item) => textByDefinition(item, inside))
  return `${left}${items.join(', ')}${!list && items.length === 1 ? ',' : ''}${right}`
}
