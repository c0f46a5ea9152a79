/** The largest difference of an output, of its largest value; of whole numbers, the share of those that differ. */
export function difference(found, expected) {
  if (`${found.shape}` !== `${expected.shape}`) return Infinity
  const [a, b] = [found.data(), expected.data()]
  if (found.dtype !== 'float32') return b.filter((value, i) => Number(value) !== Number(a[i])).length / Math.max(b.length, 1)
  let [most, largest] = [0, 0]
  for (let i = 0; i < b.length; i++) {
    if (Number.isNaN(a[i]) !== Number.isNaN(b[i])) return Infinity
    const off = Math.abs(a[i] - b[i])
    // infinities of the same sign are alike
    if (a[i] !== b[i] && off > most) most = off
    if (Number.isFinite(b[i])) largest = Math.max(largest, Math.abs(b[i]))
  }
  return most / (largest || 1)
}

/** All tensors of a result, in order. */
export function tensorsOf(value) {
  if (Array.isArray(value)) return value.flatMap(tensorsOf)
  if (value instanceof Map) return [...value.values()].flatMap(tensorsOf)
  if (typeof value?.data === 'function') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(tensorsOf) : []
}
