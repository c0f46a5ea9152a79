import t from 'tap'
import { callOperator, custom, type Input, loadModule, PtliteError, Tensor, tensor } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

const FAR = 2 ** 40

/** A typed array that says that it is longer than it is. */
function liar(array: Float32Array): Float32Array {
  for (const name of ['length', 'byteLength', 'BYTES_PER_ELEMENT']) Object.defineProperty(array, name, { value: 2 ** 28 })
  Object.defineProperty(array, 'buffer', { value: new ArrayBuffer(8) })
  return array
}

class Longer extends Float32Array {
  override get length(): number {
    return 1 << 28
  }
  override get byteLength(): number {
    return 1 << 30
  }
}

const matrix = (): Tensor => tensor([[1, 2, 3, 4]])

/** What looks like a tensor, by how it was made. */
const FORGERIES: Readonly<Record<string, () => unknown>> = {
  'an object with the prototype': () => Object.create(Tensor.prototype) as unknown,
  'an object with the prototype and fields': () =>
    Object.create(Tensor.prototype, { shape: { value: [FAR] }, offset: { value: 0 }, storage: { value: matrix().storage } }) as unknown,
  'a proxy': () => new Proxy(matrix(), {}),
  'a proxy that lies': () =>
    new Proxy(matrix(), { get: (of, name): unknown => (name === 'shape' ? [FAR] : (of[name as 'dtype'] as unknown)) }),
  'an object that inherits from a tensor': () => Object.create(matrix(), { shape: { value: [FAR] } }) as unknown,
  'a plain object': () => ({ dtype: 'float32', type: 6, shape: [FAR], strides: [1], offset: 0, storage: matrix().storage, address: 8 }),
  'a brand with an address': () => Object.freeze({ [Symbol.for('ptlite.tensor')]: () => [1, 'float32', [4], [1], null, 8] }),
  'a brand with too few elements': () =>
    Object.freeze({ [Symbol.for('ptlite.tensor')]: () => [2, 'float32', [FAR], [1], null, new Float32Array(4)] }),
  'a brand whose array lies': () => ({
    [Symbol.for('ptlite.tensor')]: () => [2, 'float32', [1 << 28], [1], null, liar(new Float32Array(4))],
  }),
  'a brand of something else': () => ({ [Symbol.for('ptlite.tensor')]: () => 'tensor' }),
}

t.test('what only looks like a tensor is refused wherever tensors come in', async (t) => {
  const module = await loadModule(fixturePath('compile.ptl'))
  for (const [name, forge] of Object.entries(FORGERIES)) {
    const forged = (): Input => forge() as Input
    const ways: Readonly<Record<string, () => unknown>> = {
      forward: () => module.forward(forged()),
      'run()': () => module.run('forward', [forged()]),
      'callOperator()': () => callOperator('aten::neg', [forged()]),
      'a list': () => callOperator('aten::cat', [[matrix(), forged()], 0]),
      'an out argument': () => callOperator('aten::neg.out', [matrix(), forged()]),
      'a method': () => Tensor.prototype.data.call(forged() as Tensor),
      'custom.readTensor': () => custom.readTensor(forged() as Tensor),
      'custom.writeTensor': () => custom.writeTensor(forged() as Tensor, new Float32Array(4)),
      'custom.viewOf': () => custom.viewOf(forged() as Tensor, [4], [1]),
      'custom.resize': () => custom.resize(forged() as Tensor, [4]),
    }
    for (const [way, call] of Object.entries(ways)) {
      const error = await Promise.resolve()
        .then(call)
        .catch((e: unknown) => e)
      t.ok(error instanceof PtliteError && error.code === 'INVALID_ARGUMENT', `${name}, as ${way}: ${String(error).slice(0, 120)}`)
    }
    t.notOk(forge() instanceof Tensor && !/proxy/.test(name), `${name} is no instance of Tensor`)
  }
  t.same((module.forward(matrix()) as Tensor).shape, (module.forward(matrix()) as Tensor).shape, 'and the module works')
  module.dispose()
})

t.test('tensors are made by the library alone', (t) => {
  const Loose = Tensor as unknown as new (...args: unknown[]) => Tensor
  const x = matrix()
  const Own = x.constructor as typeof Loose
  const made = { code: 'INVALID_ARGUMENT', message: /tensors are made by tensor\(\)/ }
  t.throws(() => new Loose(x.storage, FAR, [4], [1], 6, null), made)
  t.throws(() => new Own(x.storage, FAR, [4], [1], 6, null), made, 'not by the constructor of a tensor either')
  t.throws(() => Reflect.construct(Own, [x.storage, FAR, [4], [1], 6, null], Object), made)
  class Mine extends Loose {}
  t.throws(() => new Mine(), made)
  t.notOk('borrow' in x.storage.constructor, 'nor is memory')
  const sparse = callOperator('aten::to_sparse', [x]) as Tensor
  t.equal(sparse.constructor, Tensor, 'sparse ones have no other constructor')
  t.end()
})

t.test('nothing of a tensor that callers get can be changed', async (t) => {
  const module = await loadModule(fixturePath('compile.ptl'))
  const list: Input[] = []
  callOperator('aten::append.t', [list, callOperator('aten::neg', [matrix()]) as Tensor])
  const sizes = [2, 2]
  const ones: Readonly<Record<string, Tensor>> = {
    'of tensor()': matrix(),
    'of an operator': callOperator('aten::neg', [matrix()]) as Tensor,
    'a view with the sizes of a list of the caller': callOperator('aten::reshape', [matrix(), sizes]) as Tensor,
    'put in a list': list[0] as Tensor,
    interpreted: module.forward(matrix()) as Tensor,
    'of a plan': (module.forward(matrix()), module.forward(matrix()) as Tensor),
    'of run()': (await module.run('forward', [matrix()])) as Tensor,
    'a parameter': [...module.parameters().values()][0]!,
    quantized: Tensor.fromStorage(new Uint8Array(4), { dtype: 'quint8', shape: [4], quant: { scale: 1, zeroPoint: 0 } }),
    sparse: callOperator('aten::to_sparse', [matrix()]) as Tensor,
    'of custom.empty': custom.empty([4], custom.dtypes.float32),
  }
  sizes[0] = FAR
  for (const [name, x] of Object.entries(ones)) {
    const shape = [...x.shape]
    const loose = x as unknown as Record<string, unknown>
    const memory = x.storage as unknown as Record<string, unknown>
    for (const field of ['shape', 'strides', 'offset', 'storage', 'type', 'quant', 'dtype', 'address'])
      t.throws(() => (loose[field] = field === 'shape' ? [FAR] : 1), TypeError, `${name}: ${field} is not assigned`)
    for (const field of ['address', 'byteLength', 'live'])
      t.throws(() => (memory[field] = 8), TypeError, `${name}: ${field} of its memory is not assigned`)
    t.throws(() => ((x.shape as number[])[0] = FAR), TypeError, `${name}: nor its elements`)
    t.throws(() => (x.strides as number[]).push(FAR), TypeError)
    if (x.quant !== null) t.throws(() => ((x.quant as { scale: number }).scale = 2), TypeError)
    t.same(x.shape, shape, name)
    // nothing is defined, or what has it is no longer taken for a tensor
    for (const [object, field] of [
      [x, 'shape'],
      [memory, 'address'],
      [memory, 'byteLength'],
    ] as const) {
      const change = (): unknown => {
        Object.defineProperty(object, field, { value: field === 'shape' ? [FAR] : 8, configurable: true })
        try {
          return [callOperator('aten::neg', [x]), x.data()]
        } finally {
          delete (object as Record<string, unknown>)[field]
        }
      }
      t.throws(change, /not extensible|properties of its own|only looks like/, `${name}: ${field} is not defined`)
    }
    t.throws(
      () => {
        Object.setPrototypeOf(x, Object.create(Tensor.prototype, { shape: { value: [FAR] } }) as object)
        callOperator('aten::neg', [x])
      },
      /not extensible|properties of its own/,
      `${name}: it is of no other class`,
    )
  }
  for (const of of [Tensor.prototype, Object.getPrototypeOf(ones['sparse']) as object, Object.getPrototypeOf(matrix().storage) as object]) {
    t.throws(() => Object.defineProperty(of, 'shape', { get: () => [FAR] }), TypeError, 'nor for all of them')
    t.throws(() => Object.assign(of, { address: 8 }), TypeError)
  }
  t.throws(() => matrix().storage.read(FAR, new Uint8Array(8)), { code: 'INTERNAL' }, 'nor is memory read beyond its end')
  module.dispose()
  t.end()
})

t.test('operators go on changing the shape of tensors that callers have', (t) => {
  const x = tensor([[1, 2, 3, 4]])
  callOperator('aten::squeeze_', [x])
  t.same(x.shape, [4])
  callOperator('aten::resize_', [x, [2, 2], null])
  t.same(x.toArray(), [[1, 2], [3, 4]]) // prettier-ignore
  t.throws(() => ((x.shape as number[])[0] = FAR), TypeError, 'and it is fixed again')
  t.end()
})

t.test('typed arrays are as long as they are', (t) => {
  const shapes = { 'own properties': liar(new Float32Array([1, 2, 3, 4])), 'getters of a class': new Longer([1, 2, 3, 4]) }
  for (const [name, array] of Object.entries(shapes)) {
    t.same(tensor(array).toArray(), [1, 2, 3, 4], name)
    t.same(tensor(array, undefined, 'int32').toArray(), [1, 2, 3, 4], `${name}, converted`)
    t.same(Tensor.fromStorage(array, { dtype: 'float32', shape: [2, 2] }).toArray(), [[1, 2], [3, 4]], name) // prettier-ignore
    t.throws(() => Tensor.fromStorage(array, { dtype: 'float32', shape: [1 << 28] }), { code: 'INVALID_ARGUMENT' }, name)
    const x = custom.empty([4], custom.dtypes.float32)
    custom.writeTensor(x, array)
    t.same(x.toArray(), [1, 2, 3, 4], `${name}, written`)
    t.throws(() => custom.writeTensor(custom.empty([5], custom.dtypes.float32), array), PtliteError, name)
  }
  const renamed = Object.defineProperty(new Float64Array(4), Symbol.toStringTag, { value: 'Float32Array' })
  t.equal(tensor(renamed).dtype, 'float64')
  t.throws(() => Tensor.fromStorage(renamed, { dtype: 'float32', shape: [8] }), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('arrays whose memory is shared or changes its size', (t) => {
  const resizable = new (ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer & { resize(bytes: number): void })(
    16,
    {
      maxByteLength: 64,
    },
  )
  const tracking = new Float32Array(resizable)
  tracking.set([1, 2, 3, 4])
  t.same(tensor(tracking).toArray(), [1, 2, 3, 4])
  const options = {
    dtype: 'float32' as const,
    get shape() {
      resizable.resize(8)
      return [4]
    },
  }
  t.throws(() => Tensor.fromStorage(tracking, options), { code: 'INVALID_ARGUMENT' }, 'it shrinks while the options are read')
  t.same(tensor(tracking).toArray(), [1, 2])
  resizable.resize(0)
  t.same(tensor(tracking).shape, [0])
  const ended = new Float32Array(resizable, 0, 0)
  t.same(tensor(ended).shape, [0])
  const shared = new Float32Array(new SharedArrayBuffer(16))
  shared.set([1, 2, 3, 4])
  t.same(tensor(shared).toArray(), [1, 2, 3, 4])
  const detached = new Float32Array(4)
  const moving = {
    dtype: 'float32' as const,
    get shape() {
      structuredClone(detached, { transfer: [detached.buffer] })
      return [4]
    },
  }
  t.throws(() => Tensor.fromStorage(detached, moving), { code: 'INVALID_ARGUMENT' }, 'it goes to another thread while the options are read')
  t.end()
})

t.test('what is checked is what is used', (t) => {
  let reads = 0
  const turning = new Proxy([4], {
    get: (of, name): unknown => (name === '0' ? (reads++ === 0 ? 4 : FAR) : (of[name as 'length'] as unknown)),
  })
  t.same(Tensor.fromStorage(new Float32Array(4), { dtype: 'float32', shape: turning }).shape, [4])
  const detachedTwice = {
    ...matrix().detach(),
    get shape() {
      return reads++ === 1 ? [1, 4] : [FAR]
    },
  }
  t.same(Tensor.from(detachedTwice).shape, [1, 4])
  const quant = { axis: 0, scales: [1, 1], zeroPoints: [0, 0] }
  const q = Tensor.fromStorage(new Uint8Array(4), { dtype: 'quint8', shape: [2, 2], quant })
  quant.scales.length = 0
  t.same(q.quant, { axis: 0, scales: [1, 1], zeroPoints: [0, 0] })
  t.end()
})

t.test('views that native functions make stay in their memory', (t) => {
  const x = matrix()
  t.same(custom.viewOf(x, [2], [2], 1).toArray(), [2, 4])
  for (const [shape, strides, offset] of [
    [[5], [1], 0],
    [[4], [1], 1],
    [[2], [FAR], 0],
    [[-1], [1], 0],
    [[2], [-1], 3],
    [[2], [1], -1],
    [[2], [1, 1], 0],
    [[1.5], [1], 0],
  ] as const)
    // prettier-ignore
    t.throws(() => custom.viewOf(x, shape, strides, offset), { code: 'INVALID_ARGUMENT' }, `[${shape.join()}] [${strides.join()}] ${offset}`)
  t.throws(() => custom.emptyStrided([2], [FAR], custom.dtypes.float32), { code: 'INVALID_ARGUMENT' })
  t.throws(() => custom.empty([2], 99 as typeof custom.dtypes.float32), PtliteError)
  t.throws(() => custom.resize(x, [2], [FAR]), PtliteError)
  t.end()
})

t.test('numbers that an integer dtype cannot hold', (t) => {
  const refused = { code: 'INVALID_ARGUMENT', message: /data must be from/ }
  for (const [value, dtype] of [
    [300, 'uint8'],
    [-256, 'uint8'],
    [-1.5, 'uint8'],
    [255.9, 'uint8'],
    [128, 'int8'],
    [-129, 'int8'],
    [40000, 'int16'],
    [2 ** 31, 'int32'],
    [NaN, 'int32'],
    [Infinity, 'int8'],
    [300n, 'uint8'],
  ] as const) {
    // prettier-ignore
    t.throws(() => tensor([value], undefined, dtype), refused, `${value} as ${dtype}`)
  }
  t.throws(() => tensor(new Float32Array([300]), undefined, 'uint8'), refused, 'of typed arrays, too')
  t.same(tensor([255, -1, 1.5], undefined, 'uint8').toArray(), [255, 255, 1], 'fractions are cut off, and -1 wraps')
  t.same(tensor([-128, 127, -1.5], undefined, 'int8').toArray(), [-128, 127, -1])
  t.same(tensor([1e300], undefined, 'float32').toArray(), [Infinity])
  t.end()
})
