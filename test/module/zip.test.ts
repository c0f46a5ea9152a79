import t from 'tap'
import { openSource } from '../../runtime/module/bytes.js'
import { ZipArchive } from '../../runtime/module/zip.js'
import { errorOf } from './fixtures.js'
import { zip } from './zip-writer.js'

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
        { name: 'm/a', data: HELLO, claims: { stored: 30, size: 30 } },
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
  t.match(refused(zip([{ name: 'm/a', data: zeros, deflate: true, claims: { size: 1000 } }]), 'a'), /the record a: the file is damaged/)
  t.match(refused(zip([{ name: 'm/a', data: zeros, deflate: true, claims: { size: 2 ** 31 } }]), 'a'), /claims to inflate/)
  const many = Array.from({ length: 5 }, (_, i) => ({ name: `m/${i}`, data: zeros, deflate: true }))
  t.equal(open(zip(many)).contentOf('4').length, zeros.length)
  t.end()
})
