import { setTimeout } from 'node:timers/promises'

/** Threads of a runtime that has had its turn stop spinning within this time, in milliseconds. */
const REST = 20

/**
 * Median and least time by runtime, in milliseconds. The runtimes take turns, round by round; each gets the same share of the
 * `milliseconds` that a round takes.
 */
export async function compare(peers, { rounds, milliseconds }) {
  const times = new Map(peers.map((peer) => [peer, []]))
  const runs = new Map()
  for (const peer of peers) {
    const warm = await peer.time(3)
    runs.set(peer, Math.max(1, Math.min(2000, Math.round(milliseconds / peers.length / Math.max(warm.at(-1), 0.002)))))
  }
  for (let round = 0; round < rounds; round++) {
    // a different one begins each round, so that none always runs on a core that the one before has heated
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[(round + i) % peers.length]
      await setTimeout(REST)
      await peer.time(1)
      times.get(peer).push(...(await peer.time(runs.get(peer))))
    }
  }
  return Object.fromEntries(
    peers.map((peer) => {
      const measured = times.get(peer)
      return [peer.name, { median: median(measured), minimum: Math.min(...measured), runs: measured.length }]
    }),
  )
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

export function geometricMean(ratios) {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
}

/** Largest difference relative to the largest value of the reference. */
export function relativeError(got, want) {
  const scale = want.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-30)
  return want.reduce((m, x, i) => Math.max(m, Math.abs(x - got[i])), 0) / scale
}
