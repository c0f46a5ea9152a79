import t from 'tap'
import { openSource } from '../../formats/containers/bytes.js'
import { ZipArchive } from '../../formats/containers/zip/archive.js'
import { errorOf } from './fixtures.js'
import { crc32 } from '../../formats/containers/zip/crc32.js'
import { fields, zip, type ZipRecord } from './zip-writer.js'

const HELLO = Buffer.from('hello')

function open(bytes: Uint8Array): ZipArchive {
  return new ZipArchive(openSource(bytes))
}

function refused(bytes: Uint8Array, read?: string): string {
  const error = errorOf(() => {
    const archive = open(bytes)
    if (read !== undefined) archive.contentOf(read)
  })
  if (error.code !== 'INVALID_FILE' && error.code !== 'UNSUPPORTED_FILE') throw new Error(`unexpected ${error.code}`)
  return error.message
}

t.test('records below the folder of the first entry', (t) => {
  const archive = open(
    zip([
      { name: 'my model/version', data: HELLO },
      { name: 'my model/extra/a b/c.txt', data: new Uint8Array(0) },
      { name: 'my model/folder/', data: new Uint8Array(0) },
      { name: 'elsewhere/x', data: HELLO },
    ]),
  )
  t.same([...archive.recordNames()], ['version', 'extra/a b/c.txt'])
  t.same(archive.contentOf('version'), HELLO)
  t.equal(archive.contentOf('extra/a b/c.txt').length, 0)
  t.equal(archive.holds('x'), false)
  t.match(errorOf(() => archive.contentOf('x')).message, /the record x is missing/)
  t.end()
})

t.test('stored, deflated, with descriptors, zip64, with a comment', (t) => {
  const text = Buffer.from('abc'.repeat(1000))
  const records = [
    { name: 'm/plain', data: HELLO },
    { name: 'm/deflated', data: text, deflate: true },
    { name: 'm/descriptor', data: text, deflate: true, descriptor: true },
    { name: 'm/stored', data: text, descriptor: true },
    { name: 'm/large', data: HELLO, zip64: true },
  ]
  for (const options of [{}, { zip64: true }, { comment: 'PK\x05\x06 is no end here, this is' }]) {
    const archive = open(zip(records, options))
    for (const { name, data } of records) t.same(archive.contentOf(name.slice(2)), data, name)
    for (const name of ['deflated', 'stored']) {
      const storage = archive.storageAt(name, 4)
      t.equal(storage.byteLength, text.length)
      storage.free()
    }
  }
  t.end()
})

t.test('damaged archives', (t) => {
  const good = zip([
    { name: 'm/a', data: HELLO },
    { name: 'm/b', data: HELLO },
  ])
  for (let cut = 0; cut < good.length; cut++) t.match(refused(good.subarray(0, cut)), /zip directory|ends at/)
  t.match(
    refused(
      zip([
        { name: 'm/a', data: HELLO },
        { name: 'm/a', data: HELLO },
      ]),
    ),
    /the record a is there twice/,
  )
  t.match(
    refused(
      zip([
        { name: 'm/a', data: HELLO },
        { name: 'm/b', data: HELLO, claims: { headerOffset: 0 } },
      ]),
    ),
    /overlaps what begins at/,
  )
  t.match(
    refused(
      zip([
        { name: 'm/a', data: HELLO, claims: { stored: 40, size: 40 } },
        { name: 'm/b', data: HELLO },
      ]),
      'a',
    ),
    /runs into what follows/,
  )
  t.match(refused(zip([{ name: 'm/a', data: HELLO, claims: { headerOffset: 1 } }]), 'a'), /no local header/)
  t.match(refused(zip([{ name: 'm/a', data: HELLO, claims: { headerOffset: 2 ** 31 } }]), 'a'), /overlaps what begins/)
  t.match(refused(zip([{ name: 'm/a', data: HELLO, claims: { size: 4 } }]), 'a'), /has two sizes/)
  t.match(refused(zip([{ name: 'm/a', data: HELLO, claims: { method: 12 } }]), 'a'), /a method other than deflate \(12\)/)
  t.match(refused(zip([{ name: 'm/a', data: HELLO, claims: { flags: 1 } }]), 'a'), /encrypted/)
  t.match(refused(zip([{ name: 'm/a', data: HELLO, claims: { method: 8 } }]), 'a'), /the record a: the file is damaged/)
  t.end()
})

t.test('zip bombs', (t) => {
  const zeros = new Uint8Array(1 << 20)
  t.match(
    refused(zip([{ name: 'm/a', data: zeros, deflate: true, claims: { size: 1000 }, local: { size: 1000 } }]), 'a'),
    /the record a: the file is damaged/,
  )
  t.match(
    refused(zip([{ name: 'm/a', data: zeros, deflate: true, claims: { size: 2 ** 31 }, local: { size: 2 ** 31 } }]), 'a'),
    /claims to inflate/,
  )
  const many = Array.from({ length: 5 }, (_, i) => ({ name: `m/${i}`, data: zeros, deflate: true }))
  t.equal(open(zip(many)).contentOf('4').length, zeros.length)
  t.end()
})

t.test('checksums', (t) => {
  t.equal(crc32(Buffer.from('123456789')), 0xcbf43926)
  t.equal(crc32(new Uint8Array(0)), 0)
  const large = Uint8Array.from({ length: 300_001 }, (_, i) => (i * i) >> 3)
  const parts = [large.subarray(0, 7), large.subarray(7, 100_000), large.subarray(100_000)]
  t.equal(
    parts.reduce((crc, part) => crc32(part, crc), 0),
    crc32(large),
    'in parts, by both ways to compute it',
  )
  for (const deflate of [false, true]) {
    const wrong: ZipRecord = { name: 'm/a', data: HELLO, deflate, claims: { crc: 1 } }
    t.match(refused(zip([wrong]), 'a'), /record a is damaged.*checksum/)
    const storage = (verify: boolean): number => {
      const found = new ZipArchive(openSource(zip([wrong])), verify).storageAt('a', 1)
      const { byteLength } = found
      found.free()
      return byteLength
    }
    t.match(errorOf(() => storage(true)).message, /record a is damaged/)
    if (!deflate) t.equal(storage(false), 5, 'of tensor data only where asked for')
  }
  t.end()
})

t.test('local headers must agree with the directory', (t) => {
  const message = (record: Omit<ZipRecord, 'name' | 'data'>): string => refused(zip([{ name: 'm/a', data: HELLO, ...record }]), 'a')
  t.match(message({ local: { name: 'm/b' } }), /another name/)
  t.match(message({ local: { name: 'm/ab' } }), /another name/)
  t.match(message({ local: { method: 8 } }), /another method/)
  t.match(message({ local: { flags: 0x0801 } }), /another flags/)
  t.match(message({ local: { crc: 7 } }), /another checksum/)
  t.match(message({ local: { size: 4 } }), /another size/)
  t.match(message({ local: { crc: 0 } }), /another checksum/)
  const crc = crc32(HELLO)
  const signature = [4, 0x08074b50] as const
  for (const behind of [
    fields(signature, [4, crc], [4, 5], [4, 5]),
    fields([4, crc], [4, 5], [4, 5]),
    fields(signature, [4, crc], [8, 5], [8, 5]),
    fields([4, crc], [8, 5], [8, 5]),
  ])
    t.same(open(zip([{ name: 'm/a', data: HELLO, descriptor: true, behind }])).contentOf('a'), HELLO)
  for (const behind of [fields(signature, [4, crc], [4, 5], [4, 6]), fields([4, crc]), fields(signature, [4, 1], [4, 5], [4, 5]), fields()])
    t.match(message({ descriptor: true, behind }), /behind the record a/)
  t.match(message({ descriptor: true, local: { size: 4 } }), /another size/)
  t.end()
})

t.test('the directory lies before its end, in one part', (t) => {
  const good = Buffer.from(zip([{ name: 'm/a', data: HELLO }]))
  const end = good.length - 22
  for (const [at, value, expected] of [
    [end + 4, 1, /several parts/],
    [end + 6, 1, /several parts/],
    [end + 8, 2, /several parts/],
    [end + 12, good.readUInt16LE(end + 12) + 1, /runs over its end/],
  ] as const) {
    const bytes = Buffer.from(good)
    bytes.writeUInt16LE(value, at)
    t.match(refused(bytes), expected)
  }
  t.end()
})
