import { randomBytes } from 'node:crypto'
import t from 'tap'
import { areEqual, concatenated, fieldsOf } from '../../runtime/bytes.js'
import { latin1, latin1TextOf, strictTextOf, textOf, utf8 } from '../../runtime/encoding.js'

t.test('texts in bytes are as Buffer has them', (t) => {
  for (const text of ['', 'plain', 'grüße, 世界 \ufeff!', '\ufeffmarked', 'half \ud800', 'A'.repeat(20_000)]) {
    const bytes = Buffer.from(text)
    t.strictSame([...utf8(text)], [...bytes])
    t.equal(textOf(bytes), bytes.toString())
    t.equal(strictTextOf(bytes), bytes.toString())
    t.equal(latin1TextOf(bytes), bytes.toString('latin1'))
    t.strictSame([...latin1(text)], [...Buffer.from(text, 'latin1')])
  }
  for (const bytes of [randomBytes(9001), Buffer.from([0xff, 0x41]), Buffer.from([0xe4, 0xb8])]) {
    t.equal(textOf(bytes), bytes.toString())
    t.equal(strictTextOf(bytes), undefined, 'which is no UTF-8')
    t.equal(latin1TextOf(bytes), bytes.toString('latin1'))
  }
  t.end()
})

t.test('bytes', (t) => {
  const whole = concatenated([Uint8Array.of(1), Uint8Array.of(), Uint8Array.of(2, 3, 4, 5)])
  t.strictSame([...whole], [1, 2, 3, 4, 5])
  t.equal(fieldsOf(whole.subarray(1)).getUint32(0, true), 0x05040302)
  t.equal(fieldsOf(whole.subarray(1, 3)).byteLength, 2)
  t.ok(areEqual(whole, whole.slice()))
  t.notOk(areEqual(whole, whole.subarray(1)))
  t.notOk(areEqual(whole, Uint8Array.of(1, 2, 3, 4, 6)))
  t.end()
})
