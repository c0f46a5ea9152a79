import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadModule } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

/** net_xnnpack.pte with other numbers in the graph of its first delegate, which has them at these bytes. */
function networkWith(changes: readonly (readonly [at: number, was: number, value: number])[]): Uint8Array {
  const bytes = readFileSync(fixturePath('net_xnnpack.pte'))
  for (const [at, was, value] of changes) {
    t.equal(bytes.readUInt32LE(at), was, `what the fixture has at ${at}`)
    bytes.writeUInt32LE(value, at)
  }
  return bytes
}

t.test('layers whose outputs are not as large as the file says', async (t) => {
  const cases = [
    ['a stride', 5000, 2, 372896212, /node Conv2d: windows over images of 8 x 8 give \d+ x \d+, the file says 4 x 4/],
    ['padding', 4984, 1, 16580609, /node Conv2d: windows over images of 8 x 8 give \d+ x \d+, the file says 4 x 4/],
    [
      'a stride over channels',
      4840,
      1,
      335544321,
      /node DepthwiseConv2d: windows over images of 4 x 4 give \d+ x \d+, the file says 4 x 4/,
    ],
  ] as const
  for (const [name, at, was, value, message] of cases)
    await t.rejects(loadModule(networkWith([[at, was, value]])), { code: 'INVALID_FILE', message }, name)
})
