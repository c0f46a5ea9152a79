import t from 'tap'
import { allocate, blockSize, memoryStats, release, trimMemory } from '../../runtime/native/memory.js'
import { letGo } from '../../runtime/native/held-blocks.js'

const MB = 2 ** 20

t.beforeEach(() => trimMemory())

t.test('sizes are multiples of 64 bytes and at most an eighth more than was asked for', (t) => {
  t.strictSame([0, 1, 64, 65, 512, 513, 1000, 8192, 8193, MB, MB + 1].map(blockSize), [
    64,
    64,
    64,
    128,
    512,
    576,
    1024,
    8192,
    9216,
    MB,
    MB + MB / 8,
  ])
  for (let bytes = 513; bytes < 1e8; bytes = Math.ceil(bytes * 1.01)) {
    const size = blockSize(bytes)
    if (size < bytes || size % 64 !== 0 || size > bytes * 1.125 + 64) t.fail(`${size} for ${bytes}`)
  }
  t.end()
})

t.test('a released block serves requests of its class, and of half of it', (t) => {
  const { live } = memoryStats()
  const large = allocate(4 * MB)
  t.equal(large.address % 64, 0)
  release(large)
  t.strictSame(memoryStats().cached, 4 * MB)
  for (const bytes of [4 * MB, 3 * MB, 2 * MB, 2 * MB - 100, 4 * MB]) {
    t.equal(allocate(bytes), large, `${bytes}`)
    t.strictSame({ ...memoryStats(), peak: 0 }, { live: live + 4 * MB, peak: 0, cached: 0 })
    release(large)
    t.strictSame(memoryStats().cached, 4 * MB)
  }
  for (const bytes of [5 * MB, MB]) {
    const other = allocate(bytes)
    t.not(other, large, `${bytes}`)
    release(other)
  }
  t.equal(memoryStats().live, live)
  t.end()
})

t.test('the smallest block that serves is taken', (t) => {
  const sizes = [4 * MB, 2 * MB, 3 * MB]
  const blocks = sizes.map((bytes) => allocate(bytes))
  for (const block of blocks) release(block)
  const taken = [2 * MB, 2 * MB, 2 * MB].map(allocate)
  t.strictSame(
    taken.map((block) => block.address),
    [1, 2, 0].map((i) => blocks[i]!.address),
  )
  for (const block of taken) release(block)
  t.equal(memoryStats().cached, 9 * MB)
  trimMemory()
  t.equal(memoryStats().cached, 0)
  t.end()
})

t.test('memory that is left to the garbage collector stays as long as its block', async (t) => {
  const { live } = memoryStats()
  const block = allocate(MB)
  letGo(block)
  t.equal(memoryStats().live, live + MB)
  release(block)
  t.equal(memoryStats().live, live)
  t.equal(allocate(MB), block, 'what was released is used again')
  release(block)
})

t.test('sizes that nobody has memory for', async (t) => {
  for (const bytes of [2 ** 47, 2 ** 60, Infinity]) t.throws(() => allocate(bytes), { code: 'OUT_OF_MEMORY' }, `${bytes}`)
  for (const bytes of [NaN, -64]) t.throws(() => allocate(bytes), { code: 'INVALID_ARGUMENT' }, `${bytes}`)
})
