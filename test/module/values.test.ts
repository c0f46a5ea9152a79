import t from 'tap'
import { readTensor } from '../../runtime/tensor/data.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { type Tensor } from '../../runtime/tensor/tensor.js'
import { Device, listType, Tuple, type Value } from '../../runtime/tensor/value.js'
import { attribute, load, numbers, tensorAttribute } from './fixtures.js'

for (const name of ['values.ptl', 'values.ff']) {
  t.test(`${name}: attributes of every kind`, (t) => {
    const file = load(name)
    const get = (attributeName: string): Value => attribute(file.root, attributeName)
    t.equal(get('none'), null)
    t.equal(get('yes'), true)
    t.equal(get('small'), -7)
    t.equal(get('large'), 2n ** 62n + 1n)
    t.same(get('real'), new Float(0.25))
    t.ok(get('whole') instanceof Float, '2.0 is not 2')
    t.equal(get('text'), 'naïve ✓')
    t.same(get('ints'), [1, 2, 2 ** 40])
    t.same(get('floats'), [new Float(1), new Float(2.5)])
    t.same(get('bools'), [true, false])
    t.same(get('texts'), ['a', 'b'])
    t.equal(listType(get('no_ints') as Value[]), 'int')
    t.equal(listType(get('no_texts') as Value[]), 'str')
    t.same(get('nested'), [[1], []])
    t.same(get('pair'), new Tuple([1, new Float(1)]))
    t.same([...(get('by_name') as Map<string, Value>)].sort(), [
      ['x', 1],
      ['y', 2],
    ])
    t.same([...(get('by_number') as Map<number, Value>)], [[3, 'three']])
    t.same([...(get('by_real') as Map<number, Value>)].sort(), [
      [0.5, 2],
      [1, 1],
    ])
    t.same(get('device'), new Device('cpu'))
    t.same(numbers((get('tensors') as Tensor[])[0]!), [1, 2])
    file.close()
    t.end()
  })

  t.test(`${name}: tensors`, (t) => {
    const file = load(name)
    const base = tensorAttribute(file.root, 'base')
    const window = tensorAttribute(file.root, 'window')
    t.equal(window.storage, base.storage, 'tensors on one storage share it')
    t.equal(window.offset, 4)
    t.same(window.shape, [3, 2])
    t.same(window.strides, [1, 3])
    t.same(numbers(window), [4, 7, 5, 8, 6, 9])
    const scalar = tensorAttribute(file.root, 'scalar')
    t.same([scalar.dtype, scalar.shape, numbers(scalar)], ['int16', [], [3]])
    const empty = tensorAttribute(file.root, 'empty')
    t.same([empty.shape, numbers(empty)], [[0, 4], []])
    for (const dtype of ['uint8', 'int8', 'int16', 'int32', 'int64', 'float32', 'float64']) {
      const tensor = tensorAttribute(file.root, `t_${dtype}`)
      t.equal(tensor.dtype, dtype)
      t.same(numbers(tensor), [0, 1, 2])
    }
    t.same(numbers(tensorAttribute(file.root, 't_bool')), [0, 1, 1])
    t.same([...readTensor(tensorAttribute(file.root, 't_float16'))], [0, 0x3c00, 0x4000])
    t.same([...readTensor(tensorAttribute(file.root, 't_bfloat16'))], [0, 0x3f80, 0x4000])
    file.close()
    t.end()
  })
}

t.test('complex values', (t) => {
  const file = load('exotic.ptl')
  t.match(tensorAttribute(file.root, 'complex'), { dtype: 'complex64', shape: [2] })
  const number = attribute(file.root, 'number')
  t.ok(number instanceof Complex && number.re === 1 && number.im === 2)
  t.same(numbers(tensorAttribute(file.root, 'plain')), [1, 1])
  file.close()
  t.end()
})
