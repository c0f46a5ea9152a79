import t from 'tap'
import { tensor } from '../../../src/index.js'
import { InferenceClient } from '../../client/index.js'
import { started } from '../support/started.js'

t.test('the client and the server', async (t) => {
  const { url, kill } = await started(t)
  for (const binary of [true, false, 'auto'] as const)
    await t.test(`binary: ${binary}`, async (t) => {
      const client = new InferenceClient(url, { binary })
      const one = { data: Int32Array.from({ length: 16 }, (_, i) => i), shape: [1, 16] }
      const other = { data: new Int32Array(16).fill(1), shape: [1, 16] }
      const { modelName, modelVersion, id, outputs } = await client.infer('simple', { INPUT0: one, INPUT1: other }, { id: 'a' })
      t.strictSame([modelName, modelVersion, id], ['simple', '1', 'a'])
      t.strictSame(
        outputs['OUTPUT0']!.data,
        one.data.map((value) => value + 1),
      )
      t.strictSame(
        outputs['OUTPUT1']!.data,
        one.data.map((value) => value - 1),
      )
      const { outputs: some } = await client.infer('simple', { INPUT0: one, INPUT1: other }, { outputs: ['OUTPUT1'], version: 1 })
      t.strictSame(Object.keys(some), ['OUTPUT1'])

      const numbers = tensor([[1, 2, 3]])
      const mixed = await client.infer('mixed', {
        numbers,
        indices: { data: [4, 5, 2n ** 52n + 1n] as bigint[], datatype: 'INT64', shape: [1, 3] },
        mask: { data: [true, false, true], shape: [1, 3] },
      })
      t.strictSame(mixed.outputs['picked']!.data, Float64Array.of(1, 5, 3))
      t.strictSame(mixed.outputs['flags']!.data, Uint8Array.of(1, 0, 1))
      t.strictSame(mixed.outputs['tripled']!.data, BigInt64Array.of(12n, 15n, 3n * (2n ** 52n + 1n)))
    })

  const client = new InferenceClient(url)
  t.strictSame(
    [await client.live(), await client.ready(), await client.ready('echo'), await client.ready('none')],
    [true, true, true, false],
  )
  t.ok((await client.server()).extensions.includes('binary_tensor_data'))
  t.match(await client.model('echo'), { name: 'echo', versions: ['1'], inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 4] }] })
  t.ok((await client.index({ ready: true })).some(({ name, state }) => name === 'simple' && state === 'READY'))
  await client.unload('echo')
  t.equal(await client.ready('echo'), false)
  await t.rejects(client.infer('echo', { x: { data: new Float32Array(4), shape: [1, 4] } }, { timeoutMs: 500 }), {
    code: 'http',
    message: /echo/,
  })
  await client.load('echo')
  const { outputs } = await client.infer('echo', { x: { data: new Float32Array(4), shape: [1, 4] } })
  t.strictSame(outputs['y']!.data, new Float32Array(4).fill(1))
  const [stats] = await client.stats('simple', { version: 1 })
  t.equal(stats!.inference['success']!.count, 6)
  const half = await client.infer('half', { x: { data: Uint16Array.of(0x3c00, 0x4000), datatype: 'FP16', shape: [2, 1] } })
  t.strictSame(half.outputs['y'], { name: 'y', datatype: 'FP16', shape: [2, 1], data: Uint16Array.of(0x4000, 0x4400), parameters: {} })
  await t.rejects(client.infer('echo', { wrong: { data: new Float32Array(4) } }), { code: 'http', status: 400 })
  await t.rejects(client.load('none'), { code: 'http' })

  kill()
  t.equal(await client.live(), false)
  await t.rejects(client.model('echo'), { code: 'connection' })
})

t.test('a model that gives back what it was given, and what it keeps', async (t) => {
  const { url } = await started(t)
  const client = new InferenceClient(url)
  for (const rows of [1, 20_000])
    for (let i = 0; i < 3; i++) {
      const data = new Float32Array(4 * rows).fill(i + 1)
      const { outputs } = await client.infer('own', { x: { data, shape: [rows, 4] } })
      t.strictSame(outputs['same']!.data, data)
      t.strictSame(outputs['again']!.data, data)
      t.strictSame(outputs['table']!.data, Float32Array.of(0, 1, 2, 3))
    }
})

t.test('a token', async (t) => {
  const { url } = await started(t, ['--token-file', t.testdir({ tokens: 'secret\n' }) + '/tokens'])
  await t.rejects(new InferenceClient(url).model('echo'), { code: 'http', status: 401 })
  t.match(await new InferenceClient(url, { token: 'secret' }).model('echo'), { name: 'echo' })
  await t.rejects(new InferenceClient(url, { token: 'other' }).index(), { code: 'http', status: 401 })
})
