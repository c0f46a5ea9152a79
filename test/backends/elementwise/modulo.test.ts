import t from 'tap'
import { callOperator, tensor, type Tensor } from '../../../src/index.js'

/** Bit patterns over the whole range, then pairs whose quotient is close to an integer or large, then edges. */
function operands(round: (x: number) => number, count: number): [number[], number[]] {
  let state = 12345
  const next = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const a: number[] = []
  const b: number[] = []
  const add = (x: number, y: number): void => void (a.push(round(x)), b.push(round(y)))
  for (let i = 0; i < count; i++) {
    const y = (next() - 0.5) * 2 ** Math.floor(next() * 40 - 20)
    add((next() - 0.5) * 2 ** Math.floor(next() * 60 - 30), y)
    const near = round(y) * Math.floor(next() * 2 ** (1 + Math.floor(next() * 20)))
    add(near * (1 + (next() - 0.5) * 2 ** -22), y)
  }
  const edges = [0, -0, 1, -1, 0.5, -3, 1e-45, 1e-38, 3e38, -3e38, 2 ** 24 + 1, Infinity, -Infinity, NaN]
  for (const x of edges) for (const y of edges) add(x, y)
  return [a, b]
}

const DTYPES = { float32: Math.fround, float64: (x: number): number => x } as const

for (const [dtype, round] of Object.entries(DTYPES)) {
  void t.test(`remainders of ${dtype} are exact for every pair`, (t) => {
    const [a, b] = operands(round, 3000)
    const x = tensor(a, [a.length], dtype as keyof typeof DTYPES)
    const y = tensor(b, [b.length], dtype as keyof typeof DTYPES)
    const run = (name: string): number[] => Array.from((callOperator(name, [x, y]) as Tensor).data() as Float64Array)
    const fmod = run('aten::fmod.Tensor')
    const remainder = run('aten::remainder.Tensor')
    const quotient = run('aten::floor_divide')
    const wrong: string[] = []
    for (let i = 0; i < a.length; i++) {
      const rest = a[i]! % b[i]!
      const crosses = rest !== 0 && b[i]! < 0 !== rest < 0
      const positive = crosses ? round(rest + b[i]!) : rest
      if (!Object.is(fmod[i], rest)) wrong.push(`fmod(${a[i]}, ${b[i]}) = ${fmod[i]}, expected ${rest}`)
      if (!Object.is(remainder[i], positive)) wrong.push(`remainder(${a[i]}, ${b[i]}) = ${remainder[i]}, expected ${positive}`)
      const whole = expectedQuotient(a[i]!, b[i]!, rest, crosses, round)
      if (!Object.is(quotient[i], whole)) wrong.push(`${a[i]} // ${b[i]} = ${quotient[i]}, expected ${whole}`)
    }
    t.same(wrong.slice(0, 5), [])
    t.end()
  })
}

/** Python's rule: from the exact remainder, so that both are consistent. */
function expectedQuotient(a: number, b: number, rest: number, crosses: boolean, round: (x: number) => number): number {
  if (b === 0) return a / b
  let quotient = round(round(a - rest) / b)
  if (crosses) quotient = round(quotient - 1)
  if (quotient === 0) return a / b < 0 || Object.is(round(a / b), -0) ? -0 : 0
  const down = Math.floor(quotient)
  return round(quotient - down) > 0.5 ? round(down + 1) : down
}
