import t from 'tap'
import { callOperator, type Input, tensor, type Tensor } from '../../src/index.js'
import { count, Random } from './views/index-model.js'

const random = new Random(17)
const filled = (...shape: number[]): Tensor =>
  tensor(
    Float32Array.from({ length: count(shape) }, () => random.below(2001) / 1000 - 1),
    shape,
  )
const numbers = (x: Tensor): number[] => Array.from(x.data(), Number)
const narrow = (x: Tensor, dim: number, start: number, length: number): Tensor =>
  callOperator('aten::narrow', [x, dim, start, length]) as Tensor
const select = (x: Tensor, dim: number, index: number): Tensor => callOperator('aten::select.int', [x, dim, index]) as Tensor

const GATES = { lstm: 4, gru: 3, rnn_tanh: 1, rnn_relu: 1 }
type Kind = keyof typeof GATES

interface Network {
  readonly kind: Kind
  readonly layers: number
  readonly directions: number
  readonly inputs: number
  readonly hidden: number
  readonly units: number
  readonly params: Tensor[]
}

function network(kind: Kind, layers: number, directions: number, projected: boolean): Network {
  const [inputs, hidden] = [3, 5]
  const units = projected ? 2 : hidden
  const params: Tensor[] = []
  for (let i = 0; i < layers * directions; i++) {
    const rows = GATES[kind] * hidden
    params.push(filled(rows, i < directions ? inputs : directions * units), filled(rows, units), filled(rows), filled(rows))
    if (projected) params.push(filled(units, hidden))
  }
  return { kind, layers, directions, inputs, hidden, units, params }
}

function states(net: Network, batch: number): Tensor[] {
  const h = filled(net.layers * net.directions, batch, net.units)
  return net.kind === 'lstm' ? [h, filled(net.layers * net.directions, batch, net.hidden)] : [h]
}

function run(net: Network, overload: 'input' | 'data', first: Input[], hx: Tensor[]): Tensor[] {
  const rest: Input[] = [net.params, true, net.layers, 0, false, net.directions === 2]
  if (overload === 'input') rest.push(false)
  return callOperator(`aten::${net.kind}.${overload}`, [...first, net.kind === 'lstm' ? hx : hx[0]!, ...rest]) as Tensor[]
}

function close(t: Pick<typeof import('tap').t, 'ok' | 'strictSame'>, got: Tensor, want: Tensor, what: string): void {
  t.strictSame(got.shape, want.shape, `shape of ${what}`)
  const expected = numbers(want)
  t.ok(
    numbers(got).every((x, i) => Math.abs(x - expected[i]!) < 1e-5),
    `values of ${what}`,
  )
}

const LENGTHS = [5, 4, 4, 2, 1]

t.test('a packed batch gives each sequence what it gives alone', (t) => {
  for (const kind of Object.keys(GATES) as Kind[]) {
    for (const directions of [1, 2]) {
      for (const projected of kind === 'lstm' ? [false, true] : [false]) {
        const net = network(kind, 2, directions, projected)
        const padded = filled(LENGTHS[0]!, LENGTHS.length, net.inputs)
        const hx = states(net, LENGTHS.length)
        const lengths = tensor(BigInt64Array.from(LENGTHS, BigInt))
        const [data, sizes] = callOperator('aten::_pack_padded_sequence', [padded, lengths, false]) as [Tensor, Tensor]
        const [rows, ...last] = run(net, 'data', [data, sizes], hx)
        const [out, again] = callOperator('aten::_pad_packed_sequence', [rows!, sizes, false, 0, 0]) as [Tensor, Tensor]
        t.strictSame(numbers(again), LENGTHS)
        LENGTHS.forEach((length, i) => {
          const alone = narrow(narrow(padded, 1, i, 1), 0, 0, length)
          const [own, ...ownLast] = run(
            net,
            'input',
            [alone],
            hx.map((s) => narrow(s, 1, i, 1)),
          )
          const name = `${kind}, ${directions} directions${projected ? ', projected' : ''}, sequence ${i}`
          close(t, narrow(narrow(out, 1, i, 1), 0, 0, length), own!, `output of ${name}`)
          last.forEach((s, k) => close(t, narrow(s, 1, i, 1), ownLast[k]!, `state ${k} of ${name}`))
        })
      }
    }
  }
  t.end()
})

t.test('a layer is its cell, step by step', (t) => {
  for (const kind of Object.keys(GATES) as Kind[]) {
    const net = network(kind, 1, 1, false)
    const [steps, batch] = [4, 3]
    const x = filled(steps, batch, net.inputs)
    let hx = states(net, batch).map((s) => select(s, 0, 0))
    const [out] = run(
      net,
      'input',
      [x],
      hx.map((s) => callOperator('aten::unsqueeze', [s, 0]) as Tensor),
    )
    for (let i = 0; i < steps; i++) {
      const result = callOperator(`aten::${kind}_cell`, [select(x, 0, i), kind === 'lstm' ? hx : hx[0]!, ...net.params])
      hx = (Array.isArray(result) ? result : [result]) as Tensor[]
      close(t, select(out!, 0, i), hx[0]!, `step ${i} of ${kind}`)
    }
  }
  t.end()
})

t.test('parameters that do not fit are refused', (t) => {
  const net = network('lstm', 1, 1, false)
  const x = filled(2, 3, net.inputs)
  t.throws(() => run({ ...net, params: net.params.slice(1) }, 'input', [x], states(net, 3)), { code: 'INVALID_ARGUMENT' })
  t.throws(() => run(net, 'input', [x], states(net, 2)), { code: 'INVALID_ARGUMENT', message: /hx/ })
  t.throws(() => run(net, 'input', [filled(2, 3, 4)], states(net, 3)), { code: 'INVALID_ARGUMENT', message: /w_ih/ })
  t.throws(() => run(net, 'input', [filled(0, 3, 3)], states(net, 3)), { code: 'INVALID_ARGUMENT', message: /step/ })
  t.end()
})

t.test('bfloat16 is computed in float32 and rounded once', (t) => {
  const to = (x: Tensor, dtype: string): Tensor => callOperator('aten::to.dtype', [x, dtype]) as Tensor
  for (const kind of ['lstm', 'gru', 'rnn_tanh'] as const) {
    const net = network(kind, 2, 2, false)
    const rounded = { ...net, params: net.params.map((p) => to(p, 'bfloat16')) }
    const wide = { ...net, params: rounded.params.map((p) => to(p, 'float32')) }
    const x = to(filled(4, 2, net.inputs), 'bfloat16')
    const hx = states(net, 2).map((h) => to(h, 'bfloat16'))
    const got = run(rounded, 'input', [x], hx)
    const want = run(
      wide,
      'input',
      [to(x, 'float32')],
      hx.map((h) => to(h, 'float32')),
    )
    got.forEach((part, i) => t.same(part.data(), to(want[i]!, 'bfloat16').data(), `${kind}, result ${i}`))
    t.throws(
      () =>
        run(
          net,
          'input',
          [x],
          hx.map((h) => to(h, 'float32')),
        ),
      { message: /expected one dtype/ },
    )
    const cell = kind === 'rnn_tanh' ? 'rnn_tanh_cell' : `${kind}_cell`
    const row = select(x, 0, 0)
    const at = hx.map((h) => select(h, 0, 0))
    const weights = rounded.params.slice(0, 4)
    const step = (input: Tensor, h: Tensor[], w: Tensor[]): Tensor[] =>
      [callOperator(`aten::${cell}`, [input, kind === 'lstm' ? h : h[0]!, ...w])].flat() as Tensor[]
    const asWide = (list: Tensor[]): Tensor[] => list.map((one) => to(one, 'float32'))
    const single = step(to(row, 'float32'), asWide(at), asWide(weights))
    step(row, at, weights).forEach((part, i) => t.same(part.data(), to(single[i]!, 'bfloat16').data(), `${cell}, result ${i}`))
  }
  t.end()
})
