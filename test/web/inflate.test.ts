import { randomBytes } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { inflate as inflateInNode } from '../../formats/containers/zip/inflate.js'
import { inflate } from '../../web/platform/inflate.js'

const text = Buffer.from('the same words, the same words again, and other words '.repeat(500))

t.test('deflated records', (t) => {
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
        const packed = deflateRawSync(input, { level, strategy })
        for (const inflates of [inflate, inflateInNode])
          t.ok(input.equals(inflates(packed, input.length)), `${input.length} bytes at level ${level}, strategy ${strategy}`)
      }
    }
  }
  t.end()
})

t.test('damaged ones, and those that are longer than is said', (t) => {
  const packed = deflateRawSync(text)
  t.not(inflate(packed, text.length - 1).length, text.length - 1, 'their length shows it')
  t.equal(inflate(packed, text.length + 5).length, text.length, 'shorter ones have theirs')
  t.throws(() => inflate(packed.subarray(0, -3), text.length), /EOF/)
  let refused = 0
  for (let i = 0; i < 400; i++) {
    const damaged = Buffer.from(packed)
    damaged[(i * 7) % damaged.length]! ^= 1 << (i % 8)
    try {
      t.ok(inflate(damaged, text.length).length <= text.length + 1)
    } catch (error) {
      refused++
      t.equal((error as Error).constructor, Error, 'no error of the engine')
    }
  }
  t.ok(refused > 50, `${refused} of 400 damaged ones are refused by their codes; checksums tell of the others`)
  t.end()
})
