import t from 'tap'
import { callOperator, int, type Tensor, tensor } from '../../src/index.js'

/* Functions of float16. */

const [INT16, FLOAT16] = [int(2), int(5)]
const seenAs = (x: Tensor, dtype: typeof INT16): Tensor => callOperator('aten::view.dtype', [x, dtype]) as Tensor
const halves = (bits: readonly number[]): Tensor => seenAs(tensor(Int16Array.from(bits), [bits.length]), FLOAT16)
const bitsOf = (x: Tensor): number[] => [...(seenAs(x, INT16).data() as Int16Array)]

/** The bits of the number after each finite one on the way up: -0 comes before the least number, as 0 does. */
const after = (bits: number): number => (bits === -32768 ? 1 : bits < 0 ? bits - 1 : bits + 1)
const negative = (bits: number): number => ((bits ^ 0x8000) << 16) >> 16

t.test('the numbers after all others', (t) => {
  const finite = Array.from({ length: 65536 }, (_, i) => (i << 16) >> 16).filter((bits) => (bits & 0x7c00) !== 0x7c00)
  const towards = (x: readonly number[], to: number): number[] =>
    bitsOf(callOperator('aten::nextafter', [halves(x), halves([to])]) as Tensor)
  const [infinity, one] = [0x7c00, 0x3c00]
  t.strictSame(towards(finite, infinity), finite.map(after))
  t.strictSame(towards(finite, negative(infinity)), finite.map((bits) => negative(after(negative(bits))))) // prettier-ignore
  t.strictSame(towards([infinity, negative(infinity), one, one, 0], 0), [0x7bff, negative(0x7bff), 0x3bff, 0x3bff, 0])
  t.strictSame(towards([infinity, one], infinity), [infinity, one + 1])
  t.end()
})

t.test('incomplete gamma functions', (t) => {
  // by PyTorch 2.13
  const [a, x] = [
    [0.5, 3, 10, 20, 30],
    [0.25, 4.5, 8, 20, 11.5],
  ].map((numbers) => tensor(numbers, [5]).to('float16'))
  const values = (name: string): number[] => [...((callOperator(name, [a!, x!]) as Tensor).to('float32').data() as Float32Array)]
  t.strictSame(values('aten::igamma'), [0.5205078125, 0.82666015625, 0.283447265625, 0.52978515625, 3.993511199951172e-6])
  t.strictSame(values('aten::igammac'), [0.4794921875, 0.173583984375, 0.716796875, 0.47021484375, 1.0])
  t.end()
})
