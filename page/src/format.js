const UNITS = ['kB', 'MB', 'GB', 'TB']

/** `1.5 kB`, `3.4 MB` */
export function formatBytes(bytes) {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes
  let unit = -1
  do {
    value /= 1000
    unit++
  } while (value >= 999.5 && unit < UNITS.length - 1)
  return `${value.toPrecision(3).replace(/\.0+$/, '')} ${UNITS[unit]}`
}

/** `0.12 ms`, `3.4 s`; `< 0.1 ms` for what is too short for the clock that pages have. */
export function formatTime(milliseconds) {
  if (milliseconds <= 0) return '< 0.1 ms'
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toPrecision(3)} s`
  return milliseconds >= 100 ? `${Math.round(milliseconds)} ms` : `${milliseconds.toPrecision(2)} ms`
}

/** `11 689 512`, in groups that do not break. */
export function formatCount(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}

/** `1 operator`, `3 operators` */
export function counted(count, one, many = `${one}s`) {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** Of a number of a tensor, in a few characters. */
export function formatNumber(value) {
  if (typeof value !== 'number') return String(value)
  if (Number.isInteger(value)) return String(value)
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  const size = Math.abs(value)
  return size >= 1e-3 && size < 1e5 ? value.toPrecision(4) : value.toExponential(2)
}

/** `aten::` and other names of libraries say little in a picture. */
export function shortName(operator) {
  return operator.replace(/^(aten|prim|prims|quantized|prepacked|torchvision)::/, '')
}
