import t, { type Test } from 'tap'
import { callOperator, int, type Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { Random, real } from './support/random.js'

const random = new Random(9)
const op = (name: string, ...args: Parameters<typeof callOperator>[1]): Tensor => callOperator(name, args) as Tensor
const draw = (...shape: number[]): Tensor => real(random.data(shape.reduce((a, b) => a * b, 1)), shape, 'float32')
const values = (x: Tensor): Float32Array => x.data() as Float32Array

/** The definition, row by row. `at(i)` are the places of the two elements of a pair. */
function expected(x: Tensor, cos: Tensor, sin: Tensor, rotated: number, interleaved: boolean): Float32Array {
  const width = x.shape.at(-1)!
  const tables = [cos, sin].map((t) => {
    const shape = [...x.shape.slice(0, -1), t.shape.at(-1)!]
    return { data: values(op('aten::expand', t, shape.map(int), false)), width: t.shape.at(-1)! }
  })
  const data = values(x)
  const out = data.slice()
  for (let row = 0; row < x.numel / width; row++) {
    const [c, s] = tables.map((table) => (i: number) => table.data[row * table.width + i]!)
    for (let pair = 0; pair < rotated / 2; pair++) {
      const [a, b] = interleaved ? [2 * pair, 2 * pair + 1] : [pair, pair + rotated / 2]
      const [i, j] = tables[0]!.width === rotated ? [a, b] : [pair, pair]
      const [u, v] = [data[row * width + a]!, data[row * width + b]!]
      out[row * width + a] = u * c!(i) - v * s!(i)
      out[row * width + b] = v * c!(j) + u * s!(j)
    }
  }
  return out
}

function near(t: Test, got: Tensor, want: Float32Array, name: string): void {
  const found = values(got)
  const worst = want.reduce((most, w, i) => Math.max(most, Math.abs(w - found[i]!)), found.length === want.length ? 0 : Infinity)
  t.ok(worst < 4e-7, `${name}: ${worst}`)
}

t.test('pairs, tables and what is left of a row', (t) => {
  for (const interleaved of [false, true]) {
    for (const [width, rotated] of [
      [2, 2],
      [6, 4],
      [32, 32],
      [34, 34],
      [64, 48],
      [80, 80],
      [129, 30],
    ] as const) {
      for (const angles of [rotated, rotated / 2]) {
        const x = draw(2, 3, 5, width)
        const [cos, sin] = [draw(5, angles), draw(2, 1, 5, angles)]
        const name = `${rotated} of ${width}, ${angles} angles${interleaved ? ', interleaved' : ''}`
        const got = op('ptlite::rotary', x, cos, sin, int(rotated), interleaved, x.strides.map(int))
        near(t, got, expected(x, cos, sin, rotated, interleaved), name)
      }
    }
  }
  t.end()
})

t.test('layouts', (t) => {
  const projected = draw(2, 5, 3, 8)
  const heads = op('aten::transpose.int', projected, int(1), int(2))
  const [cos, sin] = [draw(2, 1, 5, 8), draw(5, 8)]
  const want = expected(op('aten::contiguous', heads), cos, sin, 8, false)
  for (const strides of [heads.strides, [120, 40, 8, 1]]) {
    const got = op('ptlite::rotary', heads, cos, sin, int(8), false, strides.map(int))
    t.strictSame(got.strides, strides)
    near(t, got, want, `strides ${strides.join()}`)
  }
  const apart = op('aten::transpose.int', draw(2, 3, 8, 5), int(2), int(3))
  near(
    t,
    op('ptlite::rotary', apart, cos, sin, int(8), true, [120, 40, 8, 1].map(int)),
    expected(op('aten::contiguous', apart), cos, sin, 8, true),
    'columns apart',
  )
  const table = op('aten::transpose.int', draw(8, 5), int(0), int(1))
  near(
    t,
    op('ptlite::rotary', heads, table, sin, int(8), false, [120, 40, 8, 1].map(int)),
    expected(op('aten::contiguous', heads), op('aten::contiguous', table), sin, 8, false),
    'a transposed table',
  )
  t.equal(op('ptlite::rotary', draw(0, 8), sin, sin, int(8), false, [8, 1].map(int)).numel, 0)
  t.end()
})

t.test('arguments that do not go together', (t) => {
  const [x, table] = [draw(3, 5, 8), draw(5, 8)]
  const call = (...args: Parameters<typeof callOperator>[1]) =>
    t.throws(() => callOperator('ptlite::rotary', args), { name: 'PtliteError' })
  call(x, table, table, int(7), false, [40, 8, 1].map(int))
  call(x, table, table, int(10), false, [40, 8, 1].map(int))
  call(x, table, draw(5, 4), int(8), false, [40, 8, 1].map(int))
  call(x, draw(4, 8), draw(4, 8), int(8), false, [40, 8, 1].map(int))
  call(x, draw(5, 1), draw(5, 1), int(8), false, [40, 8, 1].map(int))
  call(x, table, table, int(8), false, [8, 40, 1].map(int))
  call(x, table, table, int(8), false, [1, 3, 15].map(int))
  call(x, op('aten::to.dtype', table, 'float64'), table, int(8), false, [40, 8, 1].map(int))
  call(draw(2, 1, 3, 5, 8), table, table, int(8), false, [120, 120, 40, 8, 1].map(int))
  t.end()
})

atEveryLevel(t, import.meta.url)
