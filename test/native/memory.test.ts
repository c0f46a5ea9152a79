import t from 'tap'
import { allocate, blockSize, memoryStats, release, trimMemory } from '../../runtime/native/memory.js'

const MB = 2 ** 20

t.beforeEach(() => trimMemory())

t.test('sizes are multiples of 64 bytes, of pages above 16 kB, and at most an eighth more than was asked for', (t) => {
  t.strictSame([0, 1, 64, 65, 512, 513, 1000, 16384, 16385, MB, MB + 1].map(blockSize), [
    64,
    64,
    64,
    128,
    512,
    576,
    1024,
    16384,
    20480,
    MB,
    MB + MB / 8,
  ])
  for (let bytes = 513; bytes < 1e8; bytes = Math.ceil(bytes * 1.01)) {
    const size = blockSize(bytes)
    if (size < bytes || size % 64 !== 0 || size > bytes * 1.125 + 4096) t.fail(`${size} for ${bytes}`)
  }
  t.end()
})

t.test('a released block serves requests of its class, and of half of it', (t) => {
  const { live } = memoryStats()
  const large = allocate(4 * MB)
  t.equal(large % 64, 0)
  release(large, 4 * MB)
  t.strictSame(memoryStats().cached, 4 * MB)
  for (const bytes of [4 * MB, 3 * MB, 2 * MB, 2 * MB - 100, 4 * MB]) {
    t.equal(allocate(bytes), large, `${bytes}`)
    t.strictSame({ ...memoryStats(), peak: 0 }, { live: live + blockSize(bytes), peak: 0, cached: 0 })
    release(large, bytes)
    t.strictSame(memoryStats().cached, 4 * MB)
  }
  for (const bytes of [5 * MB, MB]) {
    const other = allocate(bytes)
    t.not(other, large, `${bytes}`)
    release(other, bytes)
  }
  t.equal(memoryStats().live, live)
  t.end()
})

t.test('the smallest block that serves is taken', (t) => {
  const sizes = [4 * MB, 2 * MB, 3 * MB]
  const blocks = sizes.map((bytes) => allocate(bytes))
  sizes.forEach((bytes, i) => release(blocks[i]!, bytes))
  const taken = [2 * MB, 2 * MB, 2 * MB].map(allocate)
  t.strictSame(taken, [blocks[1], blocks[2], blocks[0]])
  for (const address of taken) release(address, 2 * MB)
  t.equal(memoryStats().cached, 9 * MB)
  trimMemory()
  t.equal(memoryStats().cached, 0)
  t.end()
})
