import { join } from 'node:path'
import t from 'tap'
import { readInputs } from '../../src/cli/inputs.js'
import { writeNpy } from '../../src/cli/npy.js'
import { type Tensor, tensor } from '../../src/index.js'
import { zip } from '../module/zip-writer.js'

t.test('the arrays of a .npz file, stored and deflated', async (t) => {
  const values = [tensor([1, 2, 3]), tensor([[4], [5]])]
  for (const deflate of [false, true]) {
    for (const zip64 of [false, true]) {
      const records = values.map((value, i) => ({ name: `arr_${i}.npy`, data: writeNpy(value), deflate, zip64 }))
      const file = join(t.testdir({ 'x.npz': Buffer.from(zip(records)) }), 'x.npz')
      const read = readInputs([file]) as Tensor[]
      t.strictSame(
        read.map((value) => value.toArray()),
        [
          [1, 2, 3],
          [[4], [5]],
        ],
      )
    }
  }
})

t.test('files that are none are refused by name', async (t) => {
  const dir = t.testdir({
    'text.npz': 'hello',
    'other.npz': Buffer.from(zip([{ name: 'a.txt', data: Buffer.from('x') }])),
    'damaged.npz': Buffer.from(zip([{ name: 'a.npy', data: Buffer.from('x') }])),
  })
  t.throws(() => readInputs([join(dir, 'text.npz')]), { code: 'INVALID_FILE', message: /text\.npz/ })
  t.throws(() => readInputs([join(dir, 'other.npz')]), { code: 'INVALID_FILE', message: /without \.npy arrays/ })
  t.throws(() => readInputs([join(dir, 'damaged.npz')]), { code: 'INVALID_FILE', message: /damaged\.npz, a\.npy: damaged/ })
})
