import { MessageChannel, Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { callOperator, type DetachedTensor, Tensor, tensor } from '../../src/index.js'
import { nodeArguments } from '../support/node.js'

t.test('a tensor cannot be cloned, and the error says what can', async (t) => {
  const { port1 } = new MessageChannel()
  t.teardown(() => {
    port1.close()
  })
  const x = tensor([1, 2])
  const disposed = tensor([1])
  disposed.dispose()
  const advice = { name: 'DataCloneError', message: /tensor\.detach\(\).*Tensor\.from\(\)/ }
  for (const value of [x, [x], { x }, callOperator('aten::t', [tensor([[1, 2]])]), disposed]) {
    t.throws(() => structuredClone(value), advice)
    t.throws(() => {
      port1.postMessage(value)
    }, advice)
  }
  t.strictSame(x.toArray(), [1, 2])
})

t.test('what is detached is plain data, and a tensor again elsewhere', async (t) => {
  const quant = { scale: 0.5, zeroPoint: 3 }
  const cases = [
    tensor([[1, 2, 3], [4, 5, 6]]), // prettier-ignore
    callOperator('aten::t', [tensor([[1, 2, 3], [4, 5, 6]])]) as Tensor, // prettier-ignore
    tensor([1n, -(2n ** 62n)]),
    tensor([true, false]),
    tensor(5, []),
    tensor([], [0, 3]),
    tensor(new Uint16Array([15360, 0]), [2], 'float16'),
    Tensor.fromStorage(new Uint8Array([1, 2, 3]), { dtype: 'quint8', shape: [3], quant }),
  ]
  for (const x of cases) {
    const [{ dtype, shape }, values] = [x, x.data()]
    const detached = x.detach()
    t.ok(x.isReleased)
    const sent = structuredClone(detached, { transfer: [detached.buffer] })
    const y = Tensor.from(sent)
    t.strictSame([y.dtype, y.shape, y.data(), y.quant], [dtype, shape, values, x.quant])
    t.throws(() => x.detach(), { code: 'DISPOSED' })
    t.throws(() => Tensor.from(detached), { code: 'INVALID_ARGUMENT' }, 'its buffer has gone')
  }
})

t.test('what is no detached tensor is refused', async (t) => {
  const good = tensor([1, 2]).detach()
  const bad: unknown[] = [
    null,
    undefined,
    5,
    {},
    tensor([1]),
    { ...good, buffer: new Float32Array(2) },
    { ...good, buffer: new SharedArrayBuffer(8) },
    { ...good, dtype: 'float7' },
    { ...good, shape: [3] },
    { ...good, shape: [-2] },
    { ...good, buffer: new ArrayBuffer(7) },
    { ...good, dtype: 'quint8', buffer: new ArrayBuffer(2) },
  ]
  for (const value of bad) t.throws(() => Tensor.from(value as DetachedTensor), { name: 'PtliteError' })
})

t.test('to another thread and back', async (t) => {
  const [file, ...more] = nodeArguments(fileURLToPath(new URL('doubling-thread.ts', import.meta.url))).reverse()
  const worker = new Worker(file!, { execArgv: more })
  const x = tensor(new Float32Array(100_000).fill(3), [100, 1000])
  for (let i = 0; i < 3; i++) {
    const detached = (i === 0 ? x : tensor(new Float32Array(100_000).fill(3), [100, 1000])).detach()
    worker.postMessage(detached, [detached.buffer])
    t.equal(detached.buffer.byteLength, 0, 'transferred, not copied')
    const [answer] = (await once(worker, 'message')) as [DetachedTensor]
    const y = Tensor.from(answer)
    t.strictSame(y.shape, [100, 1000])
    t.ok(y.data().every((value) => value === 6))
  }
  await worker.terminate()
})
