import t from 'tap'
import { inferAnswer } from '../src/protocol/answer.js'
import { invalid } from '../src/protocol/error.js'
import { InexpressibleError, toJsonText } from '../src/protocol/json-text.js'

t.test('floats come back from their text as they were, however many', async (t) => {
  const some = [0, -0, 1, -1, 0.1, 1 / 3, 1e21, 1e-7, 123456789.25, 3.4028234663852886e38, 1e-45, 2 ** 53]
  for (const ArrayOf of [Float32Array, Float64Array]) {
    const datatype = ArrayOf === Float32Array ? 'FP32' : 'FP64'
    for (const length of [0, 1, some.length, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 100_000]) {
      const data = new ArrayOf(length)
      for (let i = 0; i < length; i++) data[i] = some[i % some.length]! / (1 + (i >> 4))
      const text = toJsonText(datatype, data, 'y')
      t.equal(text, data.join(), `${datatype}, ${length} elements`)
      const back = JSON.parse(`[${text}]`) as number[]
      t.ok(back.length === length && back.every((each, i) => each === data[i]))
    }
  }
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
