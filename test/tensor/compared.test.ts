import assert from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { callOperator, loadModule, Tensor, tensor, zeros } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

const quantized = (bytes: number[], scale: number): Tensor =>
  Tensor.fromStorage(new Uint8Array(bytes), { dtype: 'quint8', shape: [bytes.length], quant: { scale, zeroPoint: 0 } })

const gone = tensor([1])
gone.dispose()

const EQUAL: Readonly<Record<string, readonly [unknown, unknown]>> = {
  values: [tensor([1, 2]), tensor([1, 2])],
  'no dimensions': [tensor(1), tensor(1)],
  'no elements': [zeros([2, 0]), zeros([2, 0])],
  NaN: [tensor([NaN]), tensor([NaN])],
  quantized: [quantized([1, 2], 0.5), quantized([1, 2], 0.5)],
  'other strides': [tensor([[1, 2], [3, 4]]).transpose(0, 1), tensor([[1, 3], [2, 4]])], // prettier-ignore
  'results of operators': [callOperator('aten::relu', [tensor([-1, 2])]), tensor([0, 2])],
  containers: [
    { a: [tensor([1])], b: new Map([['c', tensor([2])]]) },
    { a: [tensor([1])], b: new Map([['c', tensor([2])]]) },
  ],
}
const DIFFERENT: Readonly<Record<string, readonly [unknown, unknown]>> = {
  values: [tensor([1, 2]), tensor([3, 4])],
  bigints: [tensor([1n]), tensor([2n])],
  dtype: [tensor([1, 2], [2], 'int32'), tensor([1, 2], [2], 'int8')],
  shape: [tensor([1, 2]), tensor([[1, 2]])],
  'shape without elements': [zeros([0, 3]), zeros([0, 2])],
  'no dimensions': [tensor(1), tensor(2)],
  scale: [quantized([1, 2], 0.5), quantized([1, 2], 0.25)],
  disposed: [gone, tensor([1])],
  'in containers': [{ a: [tensor([1])] }, { a: [tensor([2])] }],
  'in a Map': [new Map([['a', tensor([1])]]), new Map([['a', tensor([2])]])],
}

/** As toEqual of Jest and Vitest compares objects: by what can be iterated over, and own enumerable properties. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false
  if (!Array.isArray(a) && !ArrayBuffer.isView(a) && isIterable(a) && isIterable(b) && !isEqual([...a], [...b])) return false
  const keys = Object.keys(a)
  const of = (value: object, key: string): unknown => Reflect.get(value, key)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(of(a, key), of(b, key)))
}

function isIterable(value: object): value is Iterable<unknown> {
  return Boolean(Reflect.get(value, Symbol.iterator))
}

t.test('values, shape, dtype and quantization decide', async (t) => {
  for (const [name, [a, b]] of Object.entries(EQUAL)) {
    t.doesNotThrow(() => assert.deepStrictEqual(a, b), name)
    t.ok(isEqual(a, b), `own properties: ${name}`)
  }
  for (const [name, [a, b]] of Object.entries(DIFFERENT)) {
    t.throws(() => assert.deepStrictEqual(a, b), { code: 'ERR_ASSERTION' }, name)
    t.throws(() => assert.deepEqual(a, b), { code: 'ERR_ASSERTION' }, `${name}, loosely`)
    t.notOk(isDeepStrictEqual(b, a), name)
    // what was disposed has no elements to go through
    if (name === 'disposed') t.throws(() => isEqual(a, b), { code: 'DISPOSED' })
    else t.notOk(isEqual(a, b), `own properties: ${name}`)
  }
})

t.test('results of run() and forward() are equal, and arguments to what was never one', async (t) => {
  const model = await loadModule(fixturePath('linear.ptl'))
  const x = tensor([[1, 2, 3]])
  const results = [model.forward(x), await model.run('forward', [x]), model.call('forward', [x])]
  for (const result of results) t.ok(isDeepStrictEqual(result, results[0]))
  t.ok(isDeepStrictEqual(x, tensor([[1, 2, 3]])))
  x.add(1)
  callOperator('aten::add_.Scalar', [x, 1])
  t.ok(isDeepStrictEqual(x, tensor([[2, 3, 4]])), 'as it is when somebody looks')
})

t.test('what is seen cannot be changed by way of it', async (t) => {
  const x = tensor([1, 2])
  const [seen] = Object.values(x).filter((value) => typeof value === 'object') as Record<string, unknown>[]
  t.same(Object.keys(seen!), ['dtype', 'shape', 'quant', 'elements'])
  t.throws(() => Object.assign(seen!, { dtype: 'int8', other: 1 }), TypeError)
  t.throws(() => Object.freeze(seen), TypeError)
  t.throws(() => delete seen!['dtype'], TypeError)
  t.notOk(Reflect.setPrototypeOf(seen!, null))
  t.notOk('other' in (Object.values(tensor([1])).find((value) => typeof value === 'object') as object))
  ;(seen!['elements'] as Float32Array)[0] = 7
  t.same(x.toArray(), [1, 2])
})
