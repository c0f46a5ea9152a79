import t from 'tap'
import { inferAnswer } from '../src/protocol/answer.js'
import { invalid } from '../src/protocol/error.js'
import { InexpressibleError, toJsonText } from '../src/protocol/json-text.js'

t.test('floats come back from their text as they were, however many', async (t) => {
  const lengths = [0, 1, 1023, 1024, 1025, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 100_000]
  for (const length of lengths) {
    const doubles = Float64Array.from({ length }, (_, i) => (i - length / 3) ** 3 / 7)
    t.equal(toJsonText('FP64', doubles, 'y'), doubles.join(), `FP64, ${length} elements`)
    const floats = Float32Array.from(doubles)
    const back = JSON.parse(`[${toJsonText('FP32', floats, 'y')}]`) as number[]
    t.strictSame(Float32Array.from(back), floats, `FP32, ${length} elements`)
  }
})

t.test('the text of a float32 is that of no other, whatever its bits', async (t) => {
  const floats = new Float32Array(1 << 16)
  const bits = new Uint32Array(floats.buffer)
  // a step that is odd comes by all bits
  for (let i = 0; i < bits.length; i++) bits[i] = Math.imul(i, 0x9e3779b1)
  const finite = floats.filter(Number.isFinite)
  const text = toJsonText('FP32', finite, 'y')
  t.strictSame(
    Float32Array.from(JSON.parse(`[${text}]`) as number[]),
    finite.map((each) => (each === 0 ? 0 : each)),
  )
  t.ok(finite.length > 60_000)
  t.notOk(
    text.split(',').some((each) => !/^-?(0|[1-9]\d*)(\.\d*[1-9])?(e[+-][1-9]\d?)?$/.test(each)),
    'nothing is there that says nothing',
  )
})

t.test('what numbers look like', async (t) => {
  const numbers = [0, -0, 1, -10, 0.5, 0.1, -1 / 3, 100.25, 9.999999, 12345678, 1e8, 999999936, 1e9, 2 ** 31, 1e-6, 1.5e-8, 1e-45, 3e38]
  const texts = ['0', '0', '1', '-10', '0.5', '0.100000001', '-0.333333343', '100.25', '9.99999905', '12345678', '100000000', '999999936']
  texts.push('1000000000', '2147483648', '0.000000999999997', '1.49999995e-8', '1.40129846e-45', '3.0000000054977558e+38')
  t.strictSame(toJsonText('FP32', Float32Array.from(numbers), 'y').split(','), texts)
})

t.test('other elements', async (t) => {
  t.equal(toJsonText('INT64', BigInt64Array.of(2n ** 63n - 1n, -1n), 'y'), '9223372036854775807,-1')
  t.equal(toJsonText('UINT8', Uint8Array.of(0, 255), 'y'), '0,255')
  t.equal(toJsonText('BOOL', Uint8Array.of(0, 1), 'y'), 'false,true')
  t.equal(toJsonText('BYTES', [Buffer.from('"ä"'), Buffer.alloc(0)], 'y'), '"\\"ä\\"",""')
})

t.test('what JSON cannot say', async (t) => {
  for (const value of [NaN, Infinity, -Infinity])
    t.throws(
      () => toJsonText('FP32', Float32Array.of(1, value), 'y'),
      new InexpressibleError(`output 'y' has ${value}, which JSON cannot say; ask for "binary_data"`),
    )
  const fp16 = invalid(`output 'y': FP16 has no form in JSON; ask for "binary_data"`)
  t.throws(() => toJsonText('FP16', Uint16Array.of(1), 'y'), fp16)
  // what V8 says of more characters than a string has, for which a test has hardly room
  const data = Object.assign(new Int32Array(1), { join: () => 'x'.repeat(2 ** 30) })
  const tooLong = new InexpressibleError('the outputs are too long for JSON; ask for "binary_data"')
  t.throws(() => inferAnswer('m', '1', undefined, [{ name: 'y', datatype: 'INT32', shape: [1], data, binary: false }]), tooLong)
})
