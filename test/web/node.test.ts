import { createHash, randomBytes } from 'node:crypto'
import { types } from 'node:util'
import { runInNewContext } from 'node:vm'
import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { Buffer as Bytes, isUtf8 } from '../../web/node/buffer.js'
import { createHash as createWebHash } from '../../web/node/crypto.js'
import { types as webTypes } from '../../web/node/util.js'
import { inflateRawSync } from '../../web/node/zlib.js'

/** What stands for Node's modules in browsers does as these do. */

t.test('inflate', (t) => {
  const text = Buffer.from('the same words, the same words again, and other words '.repeat(500))
  const inputs = [
    Buffer.alloc(0),
    Buffer.from('a'),
    text,
    randomBytes(70_000),
    Buffer.alloc(100_000, 7),
    Buffer.concat([text, randomBytes(999)]),
  ]
  for (const input of inputs) {
    for (const level of [0, 1, 6, 9]) {
      for (const strategy of [0, 4]) {
        const found = inflateRawSync(deflateRawSync(input, { level, strategy }), { maxOutputLength: input.length || 1 })
        t.ok(input.equals(Buffer.from(found)), `${input.length} bytes at level ${level}, strategy ${strategy}`)
      }
    }
  }
  const packed = deflateRawSync(text)
  t.throws(() => inflateRawSync(packed, { maxOutputLength: text.length - 1 }), /announced/)
  t.throws(() => inflateRawSync(packed.subarray(0, -3), { maxOutputLength: text.length }), /deflated data/)
  let refused = 0
  for (let i = 0; i < 400; i++) {
    const damaged = Buffer.from(packed)
    damaged[(i * 7) % damaged.length]! ^= 1 << (i % 8)
    try {
      t.ok(inflateRawSync(damaged, { maxOutputLength: text.length }).length <= text.length)
    } catch (error) {
      refused++
      t.equal((error as Error).constructor, Error, 'no error of the engine')
    }
  }
  t.ok(refused > 100, `${refused} of 400 damaged ones are refused`)
  t.end()
})

t.test('SHA-256', (t) => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const bytes = randomBytes(length)
    for (const encoding of ['hex', 'base64'] as const)
      t.equal(
        createWebHash('sha256').update(bytes).digest(encoding),
        createHash('sha256').update(bytes).digest(encoding),
        `${length} bytes`,
      )
  }
  t.end()
})

t.test('Buffer', (t) => {
  const ours = Bytes.from('grüße, 世界 \ufeff!')
  const theirs = Buffer.from('grüße, 世界 \ufeff!')
  t.strictSame([...ours], [...theirs])
  for (const encoding of ['utf8', 'latin1', 'hex', 'base64'] as const) {
    t.equal(ours.toString(encoding), theirs.toString(encoding), encoding)
    t.equal(ours.toString(encoding, 2, 9), theirs.toString(encoding, 2, 9), `${encoding} of a part`)
    const text = theirs.toString(encoding)
    t.strictSame([...Bytes.from(text, encoding)], [...Buffer.from(text, encoding)], `from ${encoding}`)
  }
  t.equal(Bytes.alloc(20_000, 65).toString('latin1'), 'A'.repeat(20_000))
  const bytes = randomBytes(16)
  const copy = Bytes.from(bytes.buffer, bytes.byteOffset, 16)
  t.equal(copy.buffer, bytes.buffer, 'memory is shared with an ArrayBuffer')
  t.not(Bytes.from(bytes).buffer, bytes.buffer, 'and not with bytes')
  const READS = [
    'UInt8',
    'Int8',
    'UInt16LE',
    'UInt32LE',
    'UInt32BE',
    'Int32LE',
    'BigInt64LE',
    'BigUInt64LE',
    'DoubleLE',
    'DoubleBE',
  ] as const
  for (const name of READS) t.equal(copy[`read${name}`](3), bytes[`read${name}`](3), name)
  for (const name of ['UInt16LE', 'UInt32LE', 'Int32LE'] as const) {
    const [a, b] = [Bytes.alloc(8), Buffer.alloc(8)]
    t.equal(a[`write${name}`](12345, 2), b[`write${name}`](12345, 2), name)
    t.strictSame([...a], [...b], name)
  }
  t.equal(Bytes.compare(Bytes.of(1, 2), Bytes.of(1, 3)), -1)
  t.equal(Bytes.compare(Bytes.of(1, 2), Bytes.of(1)), 1)
  t.ok(Bytes.concat([Bytes.of(1), Bytes.of(2, 3)]).equals(Bytes.of(1, 2, 3)))
  t.equal(Bytes.from('abcabd').indexOf(Bytes.from('abd')), 3)
  t.equal(Bytes.from('abcabd').indexOf(Bytes.from('x')), -1)
  for (const [text, isText] of [
    ['é', true],
    ['\xff\xfe', false],
  ] as const)
    t.equal(isUtf8(Bytes.from(text, isText ? 'utf8' : 'latin1')), isText)
  t.end()
})

t.test('classes of objects, of other realms, too', (t) => {
  const values: unknown[] = [
    ...[
      new ArrayBuffer(1),
      new SharedArrayBuffer(1),
      new Map(),
      new Uint8Array(1),
      new Int8Array(1),
      Buffer.alloc(1),
      {},
      null,
      1,
      'text',
      undefined,
    ],
    ...(runInNewContext('[new ArrayBuffer(1), new Map(), new Uint8Array(1), { byteLength: 1, size: 1 }]') as unknown[]),
  ]
  for (const value of values)
    for (const name of ['isArrayBuffer', 'isSharedArrayBuffer', 'isMap', 'isUint8Array'] as const)
      t.equal(webTypes[name](value), types[name](value), `${name} of ${Object.prototype.toString.call(value)}`)
  t.end()
})
