import t from 'tap'
import { InferenceClient, InferenceError, strings, type Input, type OutputTensor } from '../../client/index.js'
import { tensor } from '../../../src/index.js'
import { answering, binary, json, partsOf } from './answering.js'

const EMPTY = { model_name: 'm', outputs: [] }

/** Data of each datatype, the bytes that the binary extension has for them, and their JSON. */
const CASES: readonly { datatype: OutputTensor['datatype']; data: OutputTensor['data']; hex: string; json?: string }[] = [
  { datatype: 'BOOL', data: Uint8Array.of(1, 0), hex: '0100', json: '[true,false]' },
  { datatype: 'UINT8', data: Uint8Array.of(1, 255), hex: '01ff', json: '[1,255]' },
  { datatype: 'UINT16', data: Uint16Array.of(1, 65535), hex: '0100ffff', json: '[1,65535]' },
  { datatype: 'UINT32', data: Uint32Array.of(1, 4294967295), hex: '01000000ffffffff', json: '[1,4294967295]' },
  {
    datatype: 'UINT64',
    data: BigUint64Array.of(1n, 2n ** 64n - 1n),
    hex: '0100000000000000ffffffffffffffff',
    json: '[1,18446744073709551615]',
  },
  { datatype: 'INT8', data: Int8Array.of(1, -128), hex: '0180', json: '[1,-128]' },
  { datatype: 'INT16', data: Int16Array.of(1, -2), hex: '0100feff', json: '[1,-2]' },
  { datatype: 'INT32', data: Int32Array.of(1, -2), hex: '01000000feffffff', json: '[1,-2]' },
  {
    datatype: 'INT64',
    data: BigInt64Array.of(-2n, 9007199254740993n),
    hex: 'feffffffffffffff0100000000002000',
    json: '[-2,9007199254740993]',
  },
  { datatype: 'FP16', data: Uint16Array.of(0x3c00, 0xc000), hex: '003c00c0' },
  { datatype: 'BF16', data: Uint16Array.of(0x3f80, 0xc000), hex: '803f00c0' },
  { datatype: 'FP32', data: Float32Array.of(1.5, -2), hex: '0000c03f000000c0', json: '[1.5,-2]' },
  {
    datatype: 'FP64',
    data: Float64Array.of(1e300, 0.12345678901234568),
    hex: '9c7500883ce4377e5ff64637dd9abf3f',
    json: '[1e+300,0.12345678901234568]',
  },
  {
    datatype: 'BYTES',
    data: [Buffer.from('ü'), Buffer.alloc(0)].map((each) => new Uint8Array(each)),
    hex: '02000000c3bc00000000',
    json: '["ü",""]',
  },
]

t.test('tensors go out and come back as bytes', async (t) => {
  for (const { datatype, data, hex } of CASES) {
    const raw = Buffer.from(hex, 'hex')
    const { url, received } = await answering(t, (_, response) => {
      const output = { name: 'y', datatype, shape: [2, 1], parameters: { binary_data_size: raw.length } }
      binary(response, { model_name: 'm', model_version: '3', id: 'a', outputs: [output] }, [raw])
    })
    const client = new InferenceClient(url, { binary: true })
    const result = await client.infer('m', { x: { data, shape: [1, 2], datatype } }, { id: 'a' })
    const { head, raw: sent } = partsOf(received[0]!)
    t.strictSame(head, {
      id: 'a',
      parameters: { binary_data_output: true },
      inputs: [{ name: 'x', shape: [1, 2], datatype, parameters: { binary_data_size: raw.length } }],
    })
    t.equal(sent.toString('hex'), hex, datatype)
    t.strictSame(result, {
      modelName: 'm',
      modelVersion: '3',
      id: 'a',
      parameters: {},
      outputs: { y: { name: 'y', datatype, shape: [2, 1], data, parameters: {} } },
    })
  }
})

t.test('tensors go out and come back as JSON, with all digits of integers', async (t) => {
  for (const { datatype, data, json: text } of CASES) {
    if (text === undefined) continue
    const { url, received } = await answering(t, (_, response) =>
      json(
        response,
        `{"model_name":"m","parameters":{"n":12345678901234567890},"outputs":[{"name":"y","datatype":"${datatype}","shape":[2],"data":${text}}]}`,
      ),
    )
    const { outputs, parameters } = await new InferenceClient(url, { binary: false }).infer('m', { x: { data, datatype } })
    t.equal(received[0]!.body.toString(), `{"inputs":[{"name":"x","shape":[2],"datatype":"${datatype}","data":${text}}]}`)
    t.equal(received[0]!.headers['content-type'], 'application/json')
    t.strictSame(outputs['y']!.data, data, datatype)
    t.strictSame(parameters, { n: 12345678901234567890 })
  }
})

t.test('nested data of an answer, and text that looks like a long integer', async (t) => {
  const { url } = await answering(t, (_, response) =>
    json(response, {
      outputs: [
        {
          name: 'a',
          datatype: 'INT64',
          shape: [2, 2],
          data: [
            [1, 2],
            [3, 4],
          ],
        },
        { name: '__proto__', datatype: 'BYTES', shape: [1], data: ['1234567890123456789'] },
      ],
    }),
  )
  const { outputs } = await new InferenceClient(url, { binary: false }).infer('m', {})
  t.strictSame(outputs['a']!.data, BigInt64Array.of(1n, 2n, 3n, 4n))
  t.strictSame(strings(Object.getOwnPropertyDescriptor(outputs, '__proto__')!.value as OutputTensor), ['1234567890123456789'])
  t.throws(() => strings(outputs['a']!), { code: 'argument' })
})

t.test('which form is asked of the server once', async (t) => {
  for (const [extensions, type] of [
    [['binary_tensor_data'], 'application/octet-stream'],
    [[], 'application/json'],
  ] as const) {
    const { url, received } = await answering(t, ({ url }, response) =>
      json(response, url === '/v2' ? { name: 'p', version: '1', extensions } : EMPTY),
    )
    const client = new InferenceClient(url)
    await client.infer('m', { x: { data: Float32Array.of(1) } })
    await client.infer('m', { x: { data: Float32Array.of(1) } })
    t.strictSame(
      received.map(({ url }) => url),
      ['/v2', '/v2/models/m/infer', '/v2/models/m/infer'],
    )
    t.equal(received[1]!.headers['content-type'], type)
  }
  const { url, received } = await answering(t, ({ url }, response) => json(response, EMPTY, url === '/v2' ? 404 : 200))
  await new InferenceClient(url).infer('m', { x: { data: Float32Array.of(1) } })
  t.equal(received[1]!.headers['content-type'], 'application/json', 'a gateway without metadata')
})

t.test('inputs by their kind, outputs, parameters, priority, sequences and versions', async (t) => {
  const { url, received } = await answering(t, (_, response) => json(response, EMPTY))
  const client = new InferenceClient(`${url}/base/`, { binary: true })
  const all = Float32Array.of(0, 1, 2, 3)
  await client.infer(
    'a/b c',
    {
      part: { data: all.subarray(1, 3) },
      tensor: tensor([[1], [2]]),
      flags: { data: [true, false] },
      texts: { data: ['a', 'bc'], parameters: { content_type: 'str' } },
      counts: { data: [1, 2], datatype: 'INT64' },
    },
    { version: 2, outputs: ['y'], parameters: { own: 'p' }, priority: 1, sequence: { id: 'q', start: true, end: true } },
  )
  t.equal(received[0]!.url, '/base/v2/models/a%2Fb%20c/versions/2/infer')
  const { head, raw } = partsOf(received[0]!)
  t.strictSame(head, {
    parameters: { own: 'p', priority: 1, sequence_id: 'q', sequence_start: true, sequence_end: true },
    inputs: [
      { name: 'part', shape: [2], datatype: 'FP32', parameters: { binary_data_size: 8 } },
      { name: 'tensor', shape: [2, 1], datatype: 'FP32', parameters: { binary_data_size: 8 } },
      { name: 'flags', shape: [2], datatype: 'BOOL', parameters: { binary_data_size: 2 } },
      { name: 'texts', shape: [2], datatype: 'BYTES', parameters: { content_type: 'str', binary_data_size: 11 } },
      { name: 'counts', shape: [2], datatype: 'INT64', parameters: { binary_data_size: 16 } },
    ],
    outputs: [{ name: 'y', parameters: { binary_data: true } }],
  })
  t.equal(
    raw.toString('hex'),
    '0000803f00000040' + '0000803f00000040' + '0100' + '0100000061020000006263' + '01000000000000000200000000000000',
  )
})

t.test('what is wrong is said before anything is sent', async (t) => {
  const { url, received } = await answering(t, (_, response) => json(response, EMPTY))
  const client = new InferenceClient(url, { binary: false })
  const x = Float32Array.of(1, 2)
  const inputs: [unknown, RegExp][] = [
    [{ data: x, shape: [3] }, /input x: shape \[3\] has 3 elements, data has 2/],
    [{ data: x, shape: [-1, 2] }, /not a list of integers/],
    [{ data: x, shape: [0.5, 4] }, /not a list of integers/],
    [{ data: x, shape: [2 ** 40, 2 ** 40] }, /not a list of integers/],
    [{ data: x, datatype: 'INT32' }, /INT32 takes a Int32Array, found a Float32Array/],
    [{ data: x, datatype: 'FLOAT' }, /no datatype of the protocol/],
    [{ data: [1, 2] }, /needs a datatype/],
    [{ data: [1, 256], datatype: 'UINT8' }, /256 at 1 is not a value of UINT8/],
    [{ data: [1, 0.5], datatype: 'INT32' }, /0.5 at 1/],
    [{ data: [1n, 2n], datatype: 'FP32' }, /1 at 0 is not a value of FP32/],
    [{ data: [1, 'a'], datatype: 'FP32' }, /a at 1/],
    [{ data: ['a', 1] }, /neither a string nor a Uint8Array/],
    [{ data: Uint8Array.of(2), datatype: 'BOOL' }, /BOOL takes 0 and 1/],
    [{ data: new DataView(new ArrayBuffer(4)), datatype: 'UINT8' }, /found a DataView|elements/],
    [{ data: 'abc' }, /neither a typed array nor an array/],
    [{ data: [0.5], datatype: 'FP16' }, /raw bits/],
    [{ data: Uint16Array.of(1), datatype: 'BF16' }, /JSON has no form for BF16/],
    [{ data: Float32Array.of(NaN) }, /no NaN/],
    [{ data: [Uint8Array.of(0xff)] }, /not UTF-8/],
    [{ data: x, parameters: { a: null } }, /parameter a/],
    [{ dtype: 'complex64', shape: [1], data: () => x }, /complex64/],
    [null, /expected \{ data, shape \}/],
  ]
  for (const [input, message] of inputs)
    await t.rejects(client.infer('m', { x: input as Input }), { name: 'InferenceError', code: 'argument', status: 0, message })
  const ok = { x: { data: x } }
  await t.rejects(client.infer('', ok), { code: 'argument', message: /model/ })
  await t.rejects(client.infer('..', ok), { code: 'argument' })
  await t.rejects(client.infer('m', ok, { priority: -1 }), { code: 'argument', message: /priority/ })
  await t.rejects(client.infer('m', ok, { sequence: { id: 0 } }), { code: 'argument', message: /sequence/ })
  await t.rejects(client.infer('m', ok, { timeoutMs: 0 }), { code: 'argument', message: /timeoutMs/ })
  await t.rejects(client.infer('m', [] as never), { code: 'argument', message: /inputs/ })
  t.equal(received.length, 0)
  for (const [options, address] of [
    [{}, 'localhost'],
    [{}, 'ftp://a'],
    [{}, 'http://user:pass@a'],
    [{ retries: -1 }, url],
    [{ timeoutMs: NaN }, url],
    [{ token: 'a\nb' }, url],
    [{ maxResponseBytes: 0 }, url],
    [{ binary: 'yes' as never }, url],
  ] as const)
    t.throws(() => new InferenceClient(address, options), { name: 'InferenceError', code: 'argument' })
})

t.test('answers that are not of the protocol', async (t) => {
  const output = (more: object) => ({ name: 'y', datatype: 'FP32', shape: [1], ...more })
  const raw = (size: unknown) => ({ parameters: { binary_data_size: size } })
  const cases: [unknown, number, RegExp, string?][] = [
    [{ outputs: [output(raw(8))] }, 4, /8 bytes, and 4 are left/],
    [{ outputs: [output(raw(-4))] }, 4, /-4 bytes/],
    [{ outputs: [output(raw('4'))] }, 4, /4 bytes/],
    [{ outputs: [output({ shape: [3], ...raw(4) })] }, 4, /4 bytes for 3 elements/],
    [{ outputs: [output({ shape: [2 ** 50], ...raw(4) })] }, 4, /shape \["1125899906842624"\]/],
    [{ outputs: [output({ shape: [-1], ...raw(4) })] }, 4, /shape/],
    [{ outputs: [output({ datatype: 'X', ...raw(4) })] }, 4, /datatype "X"/],
    [{ outputs: [output({ datatype: 'BYTES', ...raw(4) })] }, 4, /0 strings|other strings|1/],
    [{ outputs: [output({ data: [1] })] }, 4, /4 bytes belong to no output/],
    [{ outputs: [output({ data: [1, 2] })] }, 0, /2 elements, and its shape 1/],
    [{ outputs: [output({ data: ['a'] })] }, 0, /"a" is not a value of FP32/],
    [{ outputs: [output({ datatype: 'INT8', data: [300] })] }, 0, /300/],
    [{ outputs: [output({ data: [1] }), output({ data: [1] })] }, 0, /twice/],
    [{ outputs: {} }, 0, /outputs is no array/],
    [[], 0, /no object/],
    [{ outputs: [] }, 0, /said to have 99 bytes/, '99'],
    [{ outputs: [] }, 0, /said to have x bytes/, 'x'],
    [{ outputs: [] }, 0, /JSON cannot be read/, '3'],
  ]
  for (const [head, size, message, length] of cases) {
    const { url } = await answering(t, (_, response) => binary(response, head, [Buffer.alloc(size, 1)], length))
    const found = await new InferenceClient(url, { binary: true }).infer('m', {}).catch((error: unknown) => error)
    t.match(found, { name: 'InferenceError', code: 'protocol', message })
    t.ok(found instanceof InferenceError)
  }
})

t.test('an answer that is too large', async (t) => {
  for (const chunked of [false, true]) {
    const { url } = await answering(t, (_, response) => {
      if (!chunked) response.setHeader('content-length', 5000)
      response.write(Buffer.alloc(2500, 32))
      response.end(Buffer.alloc(2500, 32))
    })
    const client = new InferenceClient(url, { maxResponseBytes: 1000, binary: false })
    await t.rejects(client.infer('m', {}), { code: 'protocol', message: /more than 1000 bytes/ })
  }
})
