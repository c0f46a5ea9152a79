import t from 'tap'
import { formatBytes } from '../../src/format-bytes.js'
import { formatMilliseconds, formatValue, table } from '../../src/cli/format.js'
import { complex, tensor } from '../../src/index.js'

t.test('tensors', (t) => {
  t.equal(
    formatValue(
      tensor([
        [1, 2],
        [3, 4],
      ]),
    ),
    'float32[2, 2]\n[[1., 2.],\n [3., 4.]]',
  )
  t.equal(formatValue(tensor([[0.5, -2.25]])), 'float32[1, 2]\n[[ 0.5000, -2.2500]]')
  t.equal(formatValue(tensor(new BigInt64Array([1n, -20n]))), 'int64[2]\n[  1, -20]')
  t.equal(formatValue(tensor([true, false])), 'bool[2]\n[ True, False]')
  t.equal(formatValue(tensor(2.5)), 'float32[] 2.5000')
  t.equal(formatValue(tensor([NaN, Infinity, 1.5])), 'float32[3]\n[   nan,    inf, 1.5000]')
  t.equal(formatValue(tensor([1e-9, 0.5])), 'float32[2]\n[1.0000e-09, 5.0000e-01]')
  t.equal(formatValue(tensor(new Float32Array(0), [0, 3])), 'float32[0, 3]')
  t.equal(formatValue(tensor([0.5, 2, -10.25, -0.5], [2], 'complex64')), 'complex64[2]\n[  0.5000+2.0000j, -10.2500-0.5000j]')
  t.equal(formatValue([complex(1, -2), 3]), '[\n  (1-2j),\n  3,\n]')
  t.equal(
    formatValue(
      tensor([
        [[1], [2]],
        [[3], [4]],
      ]),
    ),
    'float32[2, 2, 1]\n[[[1.],\n  [2.]],\n\n [[3.],\n  [4.]]]',
  )
  t.end()
})

t.test('long tensors are cut in the middle of each dimension', (t) => {
  const text = formatValue(
    tensor(
      Float32Array.from({ length: 2000 }, (_, i) => i),
      [100, 20],
    ),
  )
  t.match(text, /^float32\[100, 20\]\n\[\[ {3}0\., {4}1\., {4}2\., \.\.\., {3}17\., {3}18\., {3}19\.\],\n/)
  t.match(text, /\n \.\.\.,\n/)
  t.equal(text.split('\n').length, 8)
  t.end()
})

t.test('long rows are wrapped', (t) => {
  const lines = formatValue(tensor(Float32Array.from({ length: 60 }, (_, i) => i / 7))).split('\n')
  t.ok(lines.length > 3)
  t.ok(lines.every((line) => line.length <= 101))
  t.end()
})

t.test('containers', (t) => {
  t.equal(formatValue(null), 'None')
  t.equal(formatValue([1, 'a', true]), '[1, "a", true]')
  t.equal(formatValue([]), '[]')
  t.equal(formatValue(new Map([['x', 1]])), '{\n  "x": 1,\n}')
  t.equal(formatValue([tensor([1])]), '[\n  float32[1]\n  [1.],\n]')
  t.end()
})

t.test('tables and units', (t) => {
  t.equal(
    table(
      [
        ['a', '1'],
        ['long', '22'],
      ],
      [1],
    ),
    'a      1\nlong  22',
  )
  t.strictSame([999, 1000, 999_949, 999_950, 3_456_789].map(formatBytes), ['999 B', '1.0 kB', '999.9 kB', '1.0 MB', '3.5 MB'])
  t.strictSame([0.012345, 4.5678, 1234.5].map(formatMilliseconds), ['0.0123 ms', '4.57 ms', '1230 ms'])
  t.end()
})
