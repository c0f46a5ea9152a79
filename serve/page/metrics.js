/**
 * Reads what the server has for Prometheus.
 * @typedef {{ readonly labels: Readonly<Record<string, string>>, readonly value: number }} Sample
 */

/** Samples by name. @param {string} text @returns {Map<string, Sample[]>} */
export function samplesOf(text) {
  const samples = new Map()
  for (const line of text.split('\n')) {
    const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (found === null) continue
    const [, name, given = '', value] = found
    const labels = Object.fromEntries([...given.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]))
    if (!samples.has(name)) samples.set(name, [])
    samples.get(name).push({ labels, value: Number(value) })
  }
  return samples
}

/** Those of one version of a model. @param {Map<string, Sample[]>} samples @param {string} name @param {string} model @param {string} version */
export function ofModel(samples, name, model, version) {
  return (samples.get(name) ?? []).filter(({ labels }) => labels.model === model && labels.version === version)
}

/**
 * The value that a share of a histogram's observations is at most, on a line through its bucket, as Prometheus has it; null without observations.
 * @param {readonly Sample[]} buckets @param {number} share
 */
export function quantile(buckets, share) {
  const sorted = buckets
    .map(({ labels, value }) => ({ most: labels.le === '+Inf' ? Infinity : Number(labels.le), count: value }))
    .sort((a, b) => a.most - b.most)
  const all = sorted.at(-1)?.count ?? 0
  if (all === 0) return null
  const wanted = share * all
  let [low, before] = [0, 0]
  for (const { most, count } of sorted) {
    if (count >= wanted) return most === Infinity ? low : low + ((most - low) * (wanted - before)) / Math.max(count - before, 1)
    ;[low, before] = [most, count]
  }
  return low
}

/** How many observations are in each bucket that has some. @param {readonly Sample[]} buckets */
export function countsOf(buckets) {
  let before = 0
  return buckets.flatMap(({ labels, value }) => {
    const count = value - before
    before = value
    return count > 0 ? [{ most: labels.le === '+Inf' ? 'more' : labels.le, count }] : []
  })
}
