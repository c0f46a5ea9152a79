import { Float } from '../../runtime/tensor/scalar.js'
import { type DictKey, Tuple, type Value } from '../../runtime/tensor/value.js'

/** Pseudo-random whole numbers below `n`, the same ones for a seed (mulberry32). */
export function randomOf(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n)
  }
}

/** A random list, tuple or dict of others, most of them shared; with `cycles` some lists and dicts are in themselves. */
export function randomGraph(seed: number, containers: number, cycles: boolean): Value {
  const random = randomOf(seed)
  const made: Value[] = []
  const leaf = (): Value => [null, true, 7, 'x', new Float(random(5) + 0.5)][random(5)]!
  const item = (): Value => (made.length > 0 && random(3) > 0 ? made[Math.max(0, made.length - 1 - random(3))]! : leaf())
  for (let i = 0; i < containers; i++) {
    const items = Array.from({ length: random(4) }, item)
    const kind = random(3)
    made.push(kind === 0 ? items : kind === 1 ? new Tuple(items) : new Map(items.map((value, k): [DictKey, Value] => [`k${k}`, value])))
  }
  if (cycles) {
    for (const value of made) {
      if (random(4) > 0) continue
      const target = made[random(made.length)]!
      if (Array.isArray(value)) value.push(target)
      else if (value instanceof Map) value.set('me', target)
    }
  }
  return made.at(-1)!
}

/** `levels` tuples, each with the one before twice: 2^levels paths to the innermost. */
export function sharedTuples(levels: number, innermost: Value = 1): Value {
  let value = innermost
  for (let i = 0; i < levels; i++) value = new Tuple([value, value])
  return value
}

/** `levels` lists, each in the next. */
export function deepList(levels: number, innermost: Value = 1): Value {
  let value = innermost
  for (let i = 0; i < levels; i++) value = [value]
  return value
}
