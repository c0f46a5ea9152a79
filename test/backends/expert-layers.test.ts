import t from 'tap'
import { callOperator, float, int, type Tensor, tensor } from '../../src/index.js'
import { Random } from '../native/fixtures/random.js'
import { integerMatrix, type IntegerMatrix, numberAt, packedMatrices } from '../support/packed-experts.js'

/* `llama::quantized_moe_ffn`: experts whose weights torchao has packed, compared with products of the unpacked numbers in double precision. */

interface Layer {
  readonly experts: number
  readonly active: number
  readonly depth: number
  readonly hidden: number
  readonly group: number
  readonly bits: 4 | 8
  readonly scoring: 'sigmoid' | 'softmax'
  readonly scale: number
  readonly gate: readonly number[]
  readonly bias: readonly number[]
  readonly up: readonly IntegerMatrix[]
  readonly down: readonly IntegerMatrix[]
}

const random = new Random(11)
const integer = (low: number, high: number): number => random.integer(low, high)
const numbers = (length: number): number[] => Array.from({ length }, () => Math.fround(integer(-64, 64) / 32))

function layer(
  experts: number,
  active: number,
  depth: number,
  hidden: number,
  group: number,
  bits: 4 | 8,
  scoring: 'sigmoid' | 'softmax',
  scale: number,
  hasBias: boolean,
): Layer {
  const matrices = (outputs: number, inputs: number): IntegerMatrix[] => Array.from({ length: experts }, () => integerMatrix(outputs, inputs, group, bits, integer)) // prettier-ignore
  return { experts, active, depth, hidden, group, bits, scoring, scale, gate: numbers(experts * depth), bias: hasBias ? numbers(experts) : [], up: matrices(2 * hidden, depth), down: matrices(depth, hidden) } // prettier-ignore
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

function times(matrix: IntegerMatrix, x: readonly number[]): number[] {
  return Array.from({ length: matrix.outputs }, (_, n) => sum(x.map((value, k) => value * numberAt(matrix, n, k))))
}

/** What a row becomes. */
function expected({ experts, active, depth, hidden, scoring, scale, gate, bias, up, down }: Layer, x: readonly number[]): number[] {
  const given = Array.from({ length: experts }, (_, e) => sum(x.map((value, k) => value * gate[e * depth + k]!)))
  const scores = scoring === 'sigmoid' ? given.map(sigmoid) : given
  const keys = scores.map((score, e) => score + (bias[e] ?? 0))
  const chosen = keys.map((_, e) => e).sort((a, b) => keys[b]! - keys[a]! || a - b).slice(0, active) // prettier-ignore
  const raw = chosen.map((e) => (scoring === 'sigmoid' ? scores[e]! : Math.exp(scores[e]! - scores[chosen[0]!]!)))
  const gates = raw.map((value) => (value / sum(raw)) * (scoring === 'sigmoid' ? scale : 1))
  const out = Array<number>(depth).fill(0)
  chosen.forEach((e, i) => {
    const halves = times(up[e]!, x)
    const middle = Array.from({ length: hidden }, (_, j) => halves[j]! * sigmoid(halves[j]!) * halves[hidden + j]!)
    times(down[e]!, middle).forEach((value, n) => (out[n]! += gates[i]! * value))
  })
  return out
}

function packed(matrices: readonly IntegerMatrix[]): Tensor {
  const { data, shape } = packedMatrices(matrices)
  return tensor(data, shape)
}

function call(layer: Layer, x: Tensor, changes: { readonly [index: number]: unknown } = {}): Tensor {
  const { experts, active, depth, hidden, group, bits, scoring, scale, gate, bias, up, down } = layer
  const args = [
    x, tensor([...gate], [experts, depth]), tensor([...bias], [bias.length]), packed(up), packed(down),
    int(active), int(experts), int(hidden), int(depth), int(group), int(bits), scoring, float(scale),
  ] // prettier-ignore
  return callOperator('llama::quantized_moe_ffn', args.map((arg, i) => changes[i] ?? arg) as never[]) as Tensor // prettier-ignore
}

function check(t: Tap, layer: Layer, rows: number): void {
  const x = numbers(rows * layer.depth)
  const found = call(layer, tensor([...x], [rows, layer.depth]))
  t.strictSame(found.shape, [rows, layer.depth])
  const wanted = Array.from({ length: rows }, (_, r) => expected(layer, x.slice(r * layer.depth, (r + 1) * layer.depth))).flat()
  const most = Math.max(1, ...wanted.map(Math.abs))
  const worst = Math.max(0, ...wanted.map((value, i) => Math.abs(value - Number(found.data()[i]))))
  t.ok(worst <= 2e-5 * most, `off by ${worst} of ${most}`)
}

type Tap = typeof t

for (const [name, one] of [
  ['4 bits, sigmoid', layer(6, 2, 32, 48, 16, 4, 'sigmoid', 2.5, true)],
  ['4 bits, sigmoid without bias', layer(4, 3, 64, 32, 32, 4, 'sigmoid', 1, false)],
  ['8 bits, softmax', layer(5, 2, 32, 64, 32, 8, 'softmax', 3, false)],
  ['all experts', layer(3, 3, 16, 16, 16, 4, 'softmax', 1, false)],
  ['long groups', layer(2, 1, 128, 128, 128, 8, 'sigmoid', 1, true)],
] as const)
  t.test(name, (t) => {
    for (const rows of [1, 5, 17]) check(t as never, one, rows)
    t.strictSame(call(one, tensor([], [0, one.depth])).shape, [0, one.depth])
    t.end()
  })

t.test('scores that are no numbers', (t) => {
  const one = layer(4, 2, 16, 16, 16, 4, 'sigmoid', 1, true)
  const bias = tensor([NaN, NaN, NaN, 1], [4])
  t.strictSame(call(one, tensor(numbers(16), [1, 16]), { 2: bias }).shape, [1, 16], 'experts are chosen all the same')
  t.end()
})

t.test('what is not packed so is refused', (t) => {
  const one = layer(3, 2, 32, 32, 32, 4, 'sigmoid', 1, true)
  const x = tensor(numbers(32), [1, 32])
  const { data, shape } = packedMatrices(one.up)
  const changed = (at: number, value: number): Tensor => {
    const bytes = data.slice()
    new DataView(bytes.buffer).setInt32(at, value, true)
    return tensor(bytes, shape)
  }
  const refused = (changes: { readonly [index: number]: unknown }, message: RegExp, code = 'INVALID_ARGUMENT'): unknown => t.throws(() => call(one, x, changes), { code, message }) // prettier-ignore
  refused({ 3: changed(0, 1) }, /packed_w13 of expert 0 is not packed by torchao/)
  refused(
    { 3: changed(shape[1] + 4, 3) },
    /packed_w13 of expert 1 is packed as linear_8bit_act_xbit_weight_kleidi_ai; export with the target 'universal'/,
  )
  refused({ 3: changed(4, 77) }, /packed as number 77/)
  refused({ 3: changed(8, 8) }, /bits, zero points, bias, outputs, inputs, parts = 8, 0, 0, 8, 16, 2; expected 4, 0, 0, 8, 16, 2/)
  refused({ 3: changed(12, 1) }, /= 4, 1, 0, 8, 16, 2/)
  refused({ 3: changed(24, 8) }, /= 4, 0, 0, 8, 8, 2/)
  refused({ 3: tensor(data.slice(0, 3 * (shape[1] - 1)), [3, shape[1] - 1]) }, /packed_w13 has \d+ bytes for each expert, and needs \d+/)
  refused({ 4: packed(one.down.slice(1)) }, /expected packed_w2 of shape \[3, bytes\], found \[2, \d+\]/)
  refused({ 3: tensor(Int8Array.from(data), shape) }, /expected uint8 as packed_w13/, 'INVALID_DTYPE')
  refused({ 5: int(4) }, /expected 1 to 3 experts for each token, found 4/)
  refused({ 7: int(64) }, /packed_w13 has \d+ bytes/)
  refused({ 8: int(64) }, /expected rows of 64/)
  refused({ 9: int(24) }, /expected groups of a multiple of 16 that divides 32 and 32, found 24/)
  refused({ 9: int(16) }, /and needs \d+/)
  refused({ 10: int(2) }, /expected weights of 4 or 8 bits, found 2/)
  refused({ 11: 'tanh' }, /expected sigmoid or softmax as score_func, found tanh/)
  refused({ 11: 'softmax' }, /expert_bias goes with sigmoid/)
  refused({ 1: tensor(numbers(64), [2, 32]) }, /expected gate_weight of shape \[3, 32\]/)
  t.end()
})
