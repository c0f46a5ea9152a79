import t from 'tap'
import { callOperator, float, type Input, int, setNumThreads, type Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { Random, real } from './support/random.js'

/** The kernel for a depthwise convolution between pointwise ones, against the kernels of the single layers: the same bits. */

const random = new Random(11)
const GATES = ['none', 'relu', 'relu6', 'silu', 'hardswish', 'sigmoid', 'hardsigmoid']

const call = (name: string, ...args: readonly Input[]): Tensor => callOperator(name, args) as Tensor
const ints = (...values: readonly number[]): Input[] => values.map((v) => int(v))
const sized = (...shape: number[]): Tensor => real(random.data(shape.reduce((a, b) => a * b, 1)), shape, 'float32')
const filter = (...shape: number[]): Tensor => call('ptlite::blocked_filter', sized(...shape))
const padded = (channels: number): number => Math.ceil(channels / 16) * 16
const bias = (channels: number): Tensor | null => random.pick([null, sized(padded(channels))])
const gated = (x: Tensor, gate: number): Tensor => (gate === 0 ? x : call(`aten::${GATES[gate]!}`, x))

interface Case {
  readonly batch: number
  /** Null where there is no layer of this kind. */
  readonly inChannels: number | null
  readonly channels: number
  readonly outChannels: number | null
  readonly size: readonly [number, number]
  readonly kernel: number
  readonly stride: number
  readonly padding: number
}

function randomCase(): Case {
  const kernel = random.pick([3, 3, 5, 7])
  const stride = kernel === 7 ? 1 : random.pick([1, 2])
  const padding = random.pick([(kernel - 1) / 2, (kernel - 1) / 2, 0])
  const inChannels = random.pick([null, 3, 16, 24])
  const outChannels = inChannels === null ? random.pick([8, 40]) : random.pick([null, 8, 40])
  const size = [random.pick([kernel, 14, 23, 40]), 2 * random.pick([17, 24, 33]) + random.pick([0, 1])] as const
  return { batch: random.pick([1, 2]), inChannels, channels: random.pick([16, 33, 48]), outChannels, size, kernel, stride, padding }
}

/** Both results for random contents. */
function compute(c: Case): [Tensor, Tensor] {
  const gates = [0, 1, 2].map(() => random.pick([0, 0, 3, 4, 5, 6]))
  const limits = [0, 1, 2].flatMap(() =>
    random.pick([
      [-Infinity, Infinity],
      [0, 6],
      [-0.5, 0.75],
    ]),
  )
  const of = (i: number): Input[] => limits.slice(2 * i, 2 * i + 2).map((x) => float(x))
  const x = call('ptlite::to_blocked', sized(c.batch, c.inChannels ?? c.channels, ...c.size))
  const expand = c.inChannels === null ? null : filter(c.channels, c.inChannels, 1, 1)
  const project = c.outChannels === null ? null : filter(c.outChannels, c.channels, 1, 1)
  const each = filter(c.channels, 1, c.kernel, c.kernel)
  const [first, middle, last] = [expand && bias(c.channels), bias(c.channels), project && bias(c.outChannels!)]
  const point = [ints(1, 1), ints(0, 0), ints(1, 1)]
  const expanded = expand === null ? x : gated(call('ptlite::blocked_convolution', x, expand, first, null, ...point, ...of(0)), gates[0]!)
  const settings = [ints(c.stride, c.stride), ints(c.padding, c.padding), ints(1, 1)]
  const spread = gated(call('ptlite::blocked_depthwise', expanded, each, middle, ...settings, ...of(1)), gates[1]!)
  const residual = project === null ? null : random.pick([null, sized(c.batch, project.shape[0]!, ...spread.shape.slice(2))])
  const wanted =
    project === null ? spread : gated(call('ptlite::blocked_convolution', spread, project, last, residual, ...point, ...of(2)), gates[2]!)
  const tail = [int(c.stride), int(c.padding), ints(...gates), limits.map((x) => float(x))]
  return [wanted, call('ptlite::blocked_bottleneck', x, expand, first, each, middle, project, last, residual, ...tail)]
}

const bits = (t: Tensor): Int32Array => new Int32Array((t.data() as Float32Array).slice().buffer)

t.test('random layers have the bits of single kernels', (t) => {
  for (let i = 0; i < 60; i++) {
    const c = randomCase()
    // many threads expand all rows before they go on
    setNumThreads(random.pick([1, 2, 3, 16]))
    try {
      const [wanted, found] = compute(c)
      t.strictSame(found.shape, wanted.shape, JSON.stringify(c))
      const [a, b] = [bits(wanted), bits(found)]
      t.equal(
        a.findIndex((v, k) => v !== b[k]),
        -1,
        JSON.stringify(c),
      )
    } finally {
      setNumThreads(1)
    }
  }
  t.end()
})

t.test('what does not fit is refused', (t) => {
  const x = sized(1, 2, 8, 16, 16)
  const [expand, each, project] = [filter(40, 32, 1, 1), filter(40, 1, 3, 3), filter(24, 40, 1, 1)]
  const tail = (stride: number, padding: number, gates = [0, 0, 0], limits = [0, 1, 0, 1, 0, 1]): Input[] => [
    ...ints(stride, padding),
    ints(...gates),
    limits.map((v) => float(v)),
  ]
  const run = (...args: readonly Input[]): Tensor => call('ptlite::blocked_bottleneck', ...args)
  t.strictSame(run(x, expand, null, each, null, project, null, null, ...tail(1, 1)).shape, [1, 2, 8, 16, 16])
  const refused = (...args: readonly Input[]): void => void t.throws(() => run(...args), { code: 'INVALID_ARGUMENT' })
  refused(x, each, null, each, null, project, null, null, ...tail(1, 1))
  refused(x, null, null, each, null, project, null, null, ...tail(1, 1))
  refused(x, expand, null, project, null, project, null, null, ...tail(1, 1))
  refused(x, expand, null, each, null, filter(24, 70, 1, 1), null, null, ...tail(1, 1))
  refused(x, expand, sized(40), each, null, project, null, null, ...tail(1, 1))
  refused(x, expand, null, each, sized(32), project, null, null, ...tail(1, 1))
  refused(x, expand, null, each, null, project, null, x, ...tail(2, 1))
  refused(x, expand, null, each, null, null, null, sized(1, 3, 8, 16, 16), ...tail(1, 1))
  refused(x, expand, null, each, null, project, null, null, ...tail(3, 1))
  refused(x, expand, null, each, null, project, null, null, ...tail(1, 2))
  refused(sized(1, 2, 8, 10, 16), expand, null, each, null, project, null, null, ...tail(1, 1))
  refused(x, expand, null, each, null, project, null, null, ...tail(1, 1, [0, 0, 9]))
  refused(x, expand, null, each, null, project, null, null, ...tail(1, 1, [0, 0]))
  refused(x, expand, null, each, null, project, null, null, ...tail(1, 1, [0, 0, 0], [0, 1]))
  refused(x, expand, null, filter(40, 1, 4, 4), null, project, null, null, ...tail(1, 1))
  t.end()
})

atEveryLevel(t, import.meta.url)
