// What the benches of block-sparse products share.
import { tensor } from '../../dist/index.js'

let seed = 7
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}
export const floats = (n) => Float32Array.from({ length: n }, () => random() - 0.5)

/** A weight [n, k, ...rest] with exactly this share of zero blocks, at random places. */
export function weightOf(n, k, share, rest = []) {
  const w = floats(n * k)
  const blocks = Array.from({ length: (n / 16) * k }, (_, i) => i)
  for (let i = 0; i < Math.round(share * blocks.length); i++) {
    const j = i + Math.floor(random() * (blocks.length - i))
    ;[blocks[i], blocks[j]] = [blocks[j], blocks[i]]
    const [column, kk] = [Math.floor(blocks[i] / k), blocks[i] % k]
    for (let row = column * 16; row < column * 16 + 16; row++) w[row * k + kk] = 0
  }
  return tensor(w, [n, k, ...rest])
}

const processorTime = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Best times in milliseconds, with the variants in turns. One thread's are processor time, which a busy machine distorts less. */
export function best(variants, threads, rounds) {
  const now = threads === 1 ? processorTime : () => performance.now()
  const times = variants.map(() => Infinity)
  for (let round = 0; round < rounds; round++) {
    variants.forEach((run, i) => {
      for (let repeat = 0; repeat < 3; repeat++) {
        const start = now()
        const y = run()
        times[i] = Math.min(times[i], now() - start)
        y.dispose()
      }
    })
  }
  return times
}
