import t from 'tap'
import { callOperator, PtliteError, tensor, type Tensor } from '../../src/index.js'

const numbers = (x: unknown): number[] => Array.from((x as Tensor).data(), Number)
const call = (op: string, ...args: unknown[]): unknown => callOperator(`aten::${op}`, args as never[])
const close = (got: number[], want: number[]): boolean => got.length === want.length && got.every((x, i) => Math.abs(x - want[i]!) < 1e-5)

const logits = [0.5, -1, 2, 0, 0.25, -0.5]
const x = tensor(Float32Array.from(logits), [2, 3])
const target = tensor(BigInt64Array.of(2n, 0n), [2], 'int64')

function logSoftmax(row: number[]): number[] {
  const total = Math.log(row.reduce((sum, v) => sum + Math.exp(v), 0))
  return row.map((v) => v - total)
}
const logs = [logSoftmax(logits.slice(0, 3)), logSoftmax(logits.slice(3))]

t.test('cross entropy of class numbers, reduced in each way', (t) => {
  const each = [-logs[0]![2]!, -logs[1]![0]!]
  t.ok(close(numbers(call('cross_entropy_loss', x, target, null, 0)), each))
  t.ok(close(numbers(call('cross_entropy_loss', x, target, null, 1)), [(each[0]! + each[1]!) / 2]))
  t.ok(close(numbers(call('cross_entropy_loss', x, target, null, 2)), [each[0]! + each[1]!]))
  const weight = tensor(Float32Array.of(3, 1, 1))
  t.ok(close(numbers(call('cross_entropy_loss', x, target, weight, 1)), [(each[0]! + 3 * each[1]!) / 4]))
  const ignoring = tensor(BigInt64Array.of(2n, -100n), [2], 'int64')
  t.ok(close(numbers(call('cross_entropy_loss', x, ignoring)), [each[0]!]))
  t.throws(() => call('cross_entropy_loss', x, tensor(BigInt64Array.of(3n, 0n), [2], 'int64')), PtliteError)
  t.end()
})

t.test('class probabilities and smoothed labels say the same', (t) => {
  const soft = tensor(Float32Array.of(0.1 / 3, 0.1 / 3, 0.9 + 0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3, 0.1 / 3), [2, 3])
  t.ok(close(numbers(call('cross_entropy_loss', x, soft)), numbers(call('cross_entropy_loss', x, target, null, 1, -100, 0.1))))
  t.end()
})

t.test('elementwise losses', (t) => {
  const a = tensor(Float32Array.of(0, 1, 4))
  const b = tensor(Float32Array.of(0.5, 1, 1))
  t.ok(close(numbers(call('l1_loss', a, b, 0)), [0.5, 0, 3]))
  t.ok(close(numbers(call('mse_loss', a, b, 0)), [0.25, 0, 9]))
  t.ok(close(numbers(call('smooth_l1_loss', a, b, 0)), [0.125, 0, 2.5]))
  t.ok(close(numbers(call('huber_loss', a, b, 0, 2)), [0.125, 0, 4]))
  const p = tensor(Float32Array.of(0, 0.5, 1))
  t.ok(close(numbers(call('binary_cross_entropy', p, tensor(Float32Array.of(1, 1, 1)), null, 0)), [100, Math.LN2, 0]))
  t.throws(() => call('binary_cross_entropy', a, b), /between 0 and 1/)
  t.ok(
    close(numbers(call('binary_cross_entropy_with_logits', a, b, null, null, 0)), [
      Math.LN2,
      Math.log1p(Math.exp(-1)),
      Math.log1p(Math.exp(-4)),
    ]),
  )
  t.end()
})

t.test('ctc: the likelihood of all alignments adds up', (t) => {
  // two steps of a uniform choice among three classes: the label 1 has alignments (1,1), (1,-), (-,1)
  const uniform = tensor(new Float32Array(6).fill(-Math.log(3)), [2, 1, 3])
  const labels = tensor(BigInt64Array.of(1n), [1, 1], 'int64')
  t.ok(close(numbers(call('ctc_loss.IntList', uniform, labels, [2], [1], 0, 0)), [-Math.log(3 / 9)]))
  const twice = tensor(BigInt64Array.of(1n, 1n), [1, 2], 'int64')
  t.strictSame(numbers(call('ctc_loss.IntList', uniform, twice, [2], [2], 0, 0)), [Infinity])
  t.strictSame(numbers(call('ctc_loss.IntList', uniform, twice, [2], [2], 0, 0, true)), [0])
  t.end()
})

t.test('margins of classes take one weight for each', (t) => {
  const refused = { code: 'INVALID_ARGUMENT', message: /a weight for each of 3 classes, found shape/ }
  for (const shape of [[2], [4], [0], [], [3, 1]]) {
    const weight = tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape)
    t.throws(() => call('multi_margin_loss', x, target, 1, 1, weight), refused, `[${shape.join(', ')}]`)
  }
  const plain = numbers(call('multi_margin_loss', x, target, 1, 1, null, 0))
  const doubled = numbers(call('multi_margin_loss', x, target, 1, 1, tensor(Float32Array.of(2, 2, 2)), 0))
  t.ok(
    close(
      doubled,
      plain.map((loss) => 2 * loss),
    ),
  )
  t.end()
})
