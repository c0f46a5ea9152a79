import t from 'tap'
import { callOperator, int, type Tensor, tensor } from '../../src/index.js'
import { Random } from '../native/fixtures/random.js'

/** Packed 4-bit weights of several blocks; test/fixtures/operators/weight-only-*.json has PyTorch's results. */

const GROUP = 32
const random = new Random(5)

function ints(n: number): Int32Array {
  return Int32Array.from({ length: n }, () => random.integer(0, 15))
}

function call(name: string, ...args: unknown[]): Tensor {
  return callOperator(`aten::${name}`, args as never[]) as Tensor
}

function floats(t: Tensor): number[] {
  return Array.from(t.data() as Float32Array)
}

/** What each machine writes for rows of a block: the row in the low bits of byte j, and in the high bits. */
const MACHINES: Record<string, (n: number) => [low: (j: number) => number, high: (j: number) => number, block: number]> = {
  avx512: (n) => (n === 64 ? [(j) => j, (j) => j + 32, 64] : [(j) => 2 * j, (j) => 2 * j + 1, 64]),
  avx2: (n) => (n === 32 ? [(j) => j, (j) => j + 16, 32] : [(j) => 2 * j, (j) => 2 * j + 1, 32]),
  default: () => [(j) => 2 * j, (j) => 2 * j + 1, 32],
}

function packedBy(machine: string, weights: Int32Array, rows: number, k: number): number[] {
  const out: number[] = []
  const [, , block] = MACHINES[machine]!(0)
  for (let first = 0; first < rows; first += block) {
    const count = Math.min(block, rows - first)
    const [low, high] = MACHINES[machine]!(count)
    for (let c = 0; c < k; c++) {
      for (let j = 0; j < count / 2; j++) out.push(weights[(first + low(j)) * k + c]! | (weights[(first + high(j)) * k + c]! << 4))
    }
  }
  return out
}

t.test('weights that another machine packed are read where its name is given', async (t) => {
  t.teardown(() => delete process.env['PTLITE_INT4_PACKING'])
  for (const [rows, k] of [
    [16, 32],
    [64, 64],
    [112, 32],
    [240, 96],
  ] as const) {
    const weights = ints(rows * k)
    const x = Float32Array.from({ length: 5 * k }, () => random.next())
    const parameters = Float32Array.from({ length: (k / GROUP) * rows * 2 }, () => random.next())
    const expected: number[] = []
    for (let m = 0; m < 5; m++) {
      for (let n = 0; n < rows; n++) {
        let sum = 0
        for (let c = 0; c < k; c++) {
          const at = (Math.floor(c / GROUP) * rows + n) * 2
          sum += x[m * k + c]! * ((weights[n * k + c]! - 8) * parameters[at]! + parameters[at + 1]!)
        }
        expected.push(sum)
      }
    }
    for (const machine of Object.keys(MACHINES)) {
      process.env['PTLITE_INT4_PACKING'] = machine
      const packed = call('_convert_weight_to_int4pack_for_cpu', tensor(weights, [rows, k]), int(2))
      t.same(Array.from(packed.data() as Uint8Array), packedBy(machine, weights, rows, k), `${machine} [${rows}, ${k}]`)
      for (const m of [1, 2, 3, 5]) {
        const a = tensor(x.slice(0, m * k), [m, k])
        const found = floats(call('_weight_int4pack_mm_for_cpu', a, packed, int(GROUP), tensor(parameters, [k / GROUP, rows, 2])))
        t.ok(
          found.every((value, i) => Math.abs(value - expected[i]!) < 1e-3),
          `${machine} [${m}, ${k}] by [${rows}, ${k}]`,
        )
      }
    }
  }
})

t.test('products of integers wrap around, and write into dense tensors', async (t) => {
  const [ones, k] = [(n: number, shape: number[]) => tensor(new Int8Array(n).fill(-128), shape, 'int8'), 140_000]
  t.same(call('_int_mm', ones(k, [1, k]), ones(k, [k, 1])).data(), [(16384 * k) | 0])
  const out = tensor(new Int32Array(4), [2, 2])
  const a = tensor(Int8Array.from([1, 2, 3, 4]), [2, 2], 'int8')
  call('_int_mm.out', a, a, out)
  t.same(Array.from(out.data() as Int32Array), [7, 10, 15, 22])
  t.throws(() => call('_int_mm.out', a, a, tensor(new Int32Array(2), [1, 2])), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call('_int_mm.out', a, a, call('t', out)), { code: 'INVALID_ARGUMENT' })
})

t.test('a layer that quantizes its input, in one tensor', async (t) => {
  const weight = tensor(Float32Array.from([1, -1, 0.5, 0.25, 2, -0.75]), [2, 3])
  const bias = tensor(Float32Array.from([0.5, -0.25]))
  const number = (x: number) => tensor(Float32Array.from([x]), [])
  const packed = call('_wrapped_linear_prepack', weight, number(0.02), tensor([0]), bias)
  const x = tensor(Float32Array.from([1, 2, -1, 0.5, 0.5, 0.5]), [2, 3])
  const run = (layer: Tensor) =>
    call('_wrapped_quantized_linear_prepacked', x, number(0.02), tensor([128]), layer, number(0.03), tensor([100]), int(2))
  // PyTorch: quantized::linear on the same quantized tensors
  const expected = [-0.99, 4.65, 0.75, 0.48]
  t.ok(floats(run(packed)).every((value, i) => Math.abs(value - expected[i]!) < 0.031))
  t.throws(() => run(tensor(new Uint8Array(8), [8], 'uint8')), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call('_wrapped_linear_prepack', weight, number(0.02), tensor([0]), tensor(Float32Array.from([1]))), {
    code: 'INVALID_ARGUMENT',
  })
})
