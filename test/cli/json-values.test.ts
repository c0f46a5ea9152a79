import t from 'tap'
import { fromJson, type Json, parseJson, shortest, toJson } from '../../src/cli/json-values.js'
import { toBits } from '../../src/cli/half.js'
import { complex, Float, type Input, Tensor, tensor } from '../../src/index.js'
import { halfToNumber } from '../../runtime/tensor/half.js'
import { Tuple } from '../../runtime/tensor/value.js'

const read = (json: Json): Input => fromJson(json, 'value')
const readTensor = (json: Json): Tensor => {
  const value = read(json)
  if (!(value instanceof Tensor)) throw new Error('not a tensor')
  return value
}

t.test('tensors', (t) => {
  const x = readTensor([
    [1, 2.5],
    [3, 4],
  ])
  t.strictSame(
    [x.dtype, x.shape, x.toArray()],
    [
      'float32',
      [2, 2],
      [
        [1, 2.5],
        [3, 4],
      ],
    ],
  )
  const y = readTensor({ dtype: 'int64', shape: [3], data: [1, '9007199254740993', -2] })
  t.strictSame(y.toArray(), [1, 9007199254740993n, -2])
  t.strictSame(
    readTensor({ dtype: 'uint8', shape: [2, 2], data: [1, 2, 3, 4] }).toArray(),
    [
      [1, 2],
      [3, 4],
    ],
    'flat data',
  )
  t.strictSame(readTensor({ dtype: 'bool', data: [true, false, 1] }).toArray(), [true, false, true])
  t.strictSame(readTensor({ dtype: 'float16', data: [1.5, 'inf'] }).toArray(), [1.5, Infinity])
  t.strictSame(readTensor({ dtype: 'bfloat16', data: [[1], [-3]] }).toArray(), [[1], [-3]])
  t.strictSame(readTensor({ data: ['nan', '-inf'] }).toArray(), [NaN, -Infinity])
  const q = readTensor({ dtype: 'quint8', shape: [2], data: [3, 4], quant: { scale: 0.5, zero_point: 1 } })
  t.strictSame([q.dtype, q.quant], ['quint8', { scale: 0.5, zeroPoint: 1 }])
  const base64 = Buffer.from(new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer)).toString('base64')
  t.strictSame(readTensor({ tensor: base64, dtype: 'float32', shape: [2, 2], strides: [1, 2] }).toArray(), [
    [1, 3],
    [2, 4],
  ])
  t.end()
})

t.test('other values', (t) => {
  t.strictSame([read(null), read(true), read('x'), read(2)], [null, true, 'x', 2])
  t.strictSame([read({ int: 5 }), read({ int: '9223372036854775807' }), read({ none: true })], [5, 9223372036854775807n, null])
  const float = read({ float: 2 })
  t.ok(float instanceof Float && float.value === 2)
  t.strictSame(read({ list: [1, { int: 2 }, 'a'] }), [1, 2, 'a'])
  const pair = read({ tuple: [{ int: 1 }, { list: [] }] })
  t.ok(pair instanceof Tuple)
  t.strictSame((pair as Tuple).items, [1, []])
  t.strictSame(read({ complex: [1, 'inf'] }), complex(1, Infinity))
  t.strictSame([...(read({ dict: [[{ complex: [1, 2] }, 'z']] }) as Map<unknown, unknown>)], [[complex(1, 2), 'z']])
  t.strictSame(
    read({
      dict: [
        [{ str: 'a' }, { int: 1 }],
        [{ int: 2 }, 'b'],
      ],
    }),
    new Map<unknown, unknown>([
      ['a', 1],
      [2, 'b'],
    ]),
  )
  t.strictSame([read({ dtype: 'float32' }), read({ memory_format: 'channels_last' }), read({ device: 'cpu' })], [6, 2, 'cpu'])
  t.end()
})

t.test('errors name the place', (t) => {
  const fails = (json: Json, message: RegExp): void => void t.throws(() => read(json), { name: 'PtliteError', message })
  fails({}, /^value: expected an object with one of/)
  fails({ list: [{ int: 'x' }] }, /^value\.list\[0\]\.int: expected a whole number, found "x"/)
  fails([[1, 2], [3]], /arrays of one shape/)
  fails(['a'], /expected a number, found "a"/)
  fails({ dtype: 'float33', data: [1] }, /unknown dtype 'float33'/)
  fails({ dtype: 'float32', shape: [3], data: [1] }, /shape \[3\] needs 3 elements, found 1/)
  fails({ dtype: 'float32', shape: [-1], data: [1] }, /shape must be an array of integers of at least 0/)
  fails({ dict: [[1]] }, /pair/)
  fails({ float: null }, /expected a number, found null/)
  fails({ complex: [1] }, /^value\.complex: expected a real and an imaginary part/)
  fails({ dtype: 'complex64', data: [1, 2, 3] }, /complex numbers as pairs/)
  t.throws(() => parseJson('{', 'file.json'), { name: 'PtliteError', message: /^file\.json: not JSON/ })
  t.end()
})

t.test('results as JSON', (t) => {
  t.strictSame(
    toJson(
      tensor([
        [0.1, NaN],
        [-Infinity, 2],
      ]),
    ),
    {
      dtype: 'float32',
      shape: [2, 2],
      data: [
        [0.1, 'nan'],
        ['-inf', 2],
      ],
    },
  )
  t.strictSame(toJson(tensor(new BigInt64Array([1n, 2n ** 60n]))), { dtype: 'int64', shape: [2], data: [1, '1152921504606846976'] })
  t.strictSame(toJson(tensor([true, false])), { dtype: 'bool', shape: [2], data: [true, false] })
  t.strictSame(toJson([1, 'a', null, 2n ** 60n]), [1, 'a', null, '1152921504606846976'])
  t.strictSame(toJson(new Map([['k', 1]])), { k: 1 })
  t.strictSame(toJson(new Map([[1, 'v']])), { dict: [[1, 'v']] })
  t.strictSame(readTensor(toJson(tensor([[1.25, 3]]))).toArray(), [[1.25, 3]], 'can be read again')
  t.equal(shortest(Math.fround(0.1)), 0.1)
  t.strictSame(toJson(complex(0.5, NaN)), { complex: [0.5, 'nan'] })
  const pairs = { dtype: 'complex64', shape: [1, 2], data: [[[0.1, 2], [-3, 4.5]]] } // prettier-ignore
  t.strictSame(toJson(readTensor(pairs)), pairs)
  t.strictSame(toJson(readTensor({ dtype: 'complex128', data: [1, -1] })), { dtype: 'complex128', shape: [], data: [1, -1] })
  t.end()
})

t.test('half-precision bits round to nearest, ties to even', (t) => {
  for (let bits = 0; bits < 0x7c00; bits += 7) {
    const value = halfToNumber(bits)
    if (toBits(value, false) !== bits) t.fail(`${value} became ${toBits(value, false)}`)
  }
  t.equal(toBits(1 + 2 ** -11, false), 0x3c00, 'tie to even')
  t.equal(toBits(1 + 3 * 2 ** -11, false), 0x3c02)
  t.equal(toBits(65519, false), 0x7bff)
  t.equal(toBits(65520, false), 0x7c00)
  t.equal(toBits(-(2 ** -25), false), 0x8000)
  t.equal(toBits(1.00390625, true), 0x3f80, 'tie to even in bfloat16')
  t.end()
})
