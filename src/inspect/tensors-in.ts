import { Tensor } from '../../runtime/tensor/tensor.js'

/** The tensors in a result, each once, however deep. */
export function tensorsIn(result: unknown): Set<Tensor> {
  const found = new Set<Tensor>()
  const seen = new Set<unknown>()
  const pending = [result]
  while (pending.length > 0) {
    const value = pending.pop()
    if (value instanceof Tensor) found.add(value as Tensor)
    else if ((Array.isArray(value) || value instanceof Map) && !seen.has(value)) {
      seen.add(value)
      for (const item of value.values() as Iterable<unknown>) pending.push(item)
    }
  }
  return found
}
