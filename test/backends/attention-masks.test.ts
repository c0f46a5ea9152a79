import t from 'tap'
import { callOperator, type Tensor, tensor } from '../../src/index.js'

/* Keys that a mask hides from all queries of a block are not read. */

const [HEADS, SHARED, KEYS, SIZE] = [4, 2, 777, 16]

let seed = 9
function random(count: number): Float32Array {
  return Float32Array.from({ length: count }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 31 - 1
  })
}

/** In double precision; a row that sees no key is 0. */
function reference(q: Float32Array, k: Float32Array, v: Float32Array, queries: number, added: (q: number, k: number) => number): number[] {
  const out: number[] = []
  for (let h = 0; h < HEADS; h++) {
    const kv = Math.floor(h / (HEADS / SHARED)) * KEYS * SIZE
    for (let i = 0; i < queries; i++) {
      const row = (h * queries + i) * SIZE
      const scores = Array.from({ length: KEYS }, (_, j) => {
        const mask = added(i, j)
        if (mask === -Infinity) return mask
        let sum = 0
        for (let d = 0; d < SIZE; d++) sum += q[row + d]! * k[kv + j * SIZE + d]!
        return Math.fround(sum * SIZE ** -0.5 + mask)
      })
      const top = Math.max(...scores)
      const weights = scores.map((s) => (top === -Infinity ? 0 : Math.exp(s - top)))
      const total = weights.reduce((a, b) => a + b, 0)
      for (let d = 0; d < SIZE; d++)
        out.push(weights.reduce((sum, w, j) => (w === 0 ? sum : sum + w * v[kv + j * SIZE + d]!), 0) / (total || 1))
    }
  }
  return out
}

/** What each query sees of the keys. */
const FORMS: Readonly<Record<string, (query: number, key: number) => boolean>> = {
  'up to a place': (query, key) => key <= 301 + query,
  'the first key alone': (_, key) => key === 0,
  'a window': (query, key) => key > 400 + query && key <= 470 + query,
  'the last keys': (_, key) => key >= 770,
  'two parts': (query, key) => key < 20 + query || (key >= 500 && key < 510),
  'every third': (_, key) => key % 3 === 1 && key < 600,
  'nothing for some': (query, key) => query % 2 === 1 && key < 90,
  'nothing for any': () => false,
}

for (const [name, sees] of Object.entries(FORMS)) {
  t.test(name, async (t) => {
    for (const queries of [1, 3, 50]) {
      const [q, k, v] = [random(HEADS * queries * SIZE), random(SHARED * KEYS * SIZE), random(SHARED * KEYS * SIZE)]
      const truth = Array.from({ length: queries * KEYS }, (_, i) => sees(Math.floor(i / KEYS), i % KEYS))
      // outside of what any query sees there may be anything
      const seen = Array.from({ length: KEYS }, (_, key) => truth.some((x, i) => x && i % KEYS === key))
      const everyone =
        truth.length === 0 ||
        Array.from({ length: queries }, (_, i) => truth.slice(i * KEYS, (i + 1) * KEYS)).every((row) => row.includes(true))
      const [first, last] = [seen.indexOf(true), seen.lastIndexOf(true)]
      if (everyone && queries <= 3) {
        for (let h = 0; h < SHARED; h++)
          for (let key = 0; key < KEYS; key++)
            if (key < first || key > last) for (const t of [k, v]) t.fill(NaN, (h * KEYS + key) * SIZE, (h * KEYS + key + 1) * SIZE)
      }
      const shapes = [
        [1, HEADS, queries, SIZE],
        [1, SHARED, KEYS, SIZE],
      ] as const
      const operands = [tensor(q, shapes[0]), tensor(k, shapes[1]), tensor(v, shapes[1])]
      const masks: [string, Tensor, (hidden: boolean) => number][] = [
        ['bool', tensor(Uint8Array.from(truth, Number), [queries, KEYS], 'bool'), (hidden) => (hidden ? -Infinity : 0)],
        [
          '-inf',
          tensor(
            Float32Array.from(truth, (x) => (x ? 0.5 : -Infinity)),
            [queries, KEYS],
          ),
          (hidden) => (hidden ? -Infinity : 0.5),
        ],
        [
          'the least number',
          tensor(
            Float32Array.from(truth, (x) => (x ? 0 : -3.4e38)),
            [1, 1, queries, KEYS],
          ),
          (hidden) => (!hidden ? 0 : everyone ? -Infinity : Math.fround(-3.4e38)),
        ],
      ]
      for (const [kind, mask, added] of masks) {
        const found = callOperator<Tensor>('aten::scaled_dot_product_attention', [...operands, mask, 0, false, null, true])
        const want = reference(q, k, v, queries, (i, j) => added(!truth[i * KEYS + j]))
        const data = found.data() as Float32Array
        const worst = want.reduce((most, x, i) => Math.max(most, Number.isNaN(data[i]!) ? Infinity : Math.abs(x - data[i]!)), 0)
        t.ok(worst < 2e-6, `${queries} queries, ${kind}: off by ${worst}`)
      }
    }
  })
}

for (const dtype of ['bfloat16', 'float16'] as const) {
  t.test(`keys and values of ${dtype}`, (t) => {
    for (const queries of [1, 3, 50]) {
      const [q, k, v] = [HEADS * queries * SIZE, SHARED * KEYS * SIZE, SHARED * KEYS * SIZE].map((count, i) => {
        const heads = i === 0 ? HEADS : SHARED
        // as a projection leaves them: heads within rows
        const rows = count / heads / SIZE
        return tensor(random(count), [1, rows, heads, SIZE]).to(dtype).permute([0, 2, 1, 3])
      }) as [Tensor, Tensor, Tensor]
      const [a, b, c] = [q, k, v].map((x) => x.to('float32').data() as Float32Array) as [Float32Array, Float32Array, Float32Array]
      const mask = tensor(
        Uint8Array.from({ length: queries * KEYS }, (_, i) => Number(i % KEYS <= 301 + Math.floor(i / KEYS))),
        [queries, KEYS],
        'bool',
      )
      for (const given of [null, mask]) {
        const found = callOperator<Tensor>('aten::scaled_dot_product_attention', [q, k, v, given, 0, false, null, true])
        const want = reference(a, b, c, queries, (i, j) => (given === null || j <= 301 + i ? 0 : -Infinity))
        t.equal(found.dtype, dtype)
        const data = found.to('float32').data() as Float32Array
        const worst = want.reduce(
          (most, x, i) => Math.max(most, Math.abs(x - data[i]!) - Math.abs(x) * (dtype === 'bfloat16' ? 2 ** -8 : 2 ** -11)),
          0,
        )
        t.ok(worst < 2e-6, `${queries} queries: off by ${worst}`)
      }
    }
    t.end()
  })
}
