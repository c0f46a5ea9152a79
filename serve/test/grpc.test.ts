import type * as Grpc from '@grpc/grpc-js'
import type * as Loader from '@grpc/proto-loader'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { fixture, repository, requireOfServe, start, type Started } from './support/server.js'

const grpc = requireOfServe('@grpc/grpc-js') as typeof Grpc
const { loadSync } = requireOfServe('@grpc/proto-loader') as typeof Loader

const proto = fileURLToPath(new URL('../src/grpc/open_inference.proto', import.meta.url))
type Client = Grpc.Client & Record<string, (...args: unknown[]) => Grpc.ClientUnaryCall>
type Message = Readonly<Record<string, unknown>>

let server: Started
let client: Client

t.before(async () => {
  const folder = repository(t, {
    'affine.ptl': fixture('affine.ptl'),
    'named.ptl': fixture('named.ptl'),
    'words.ptl': fixture('words.ptl'),
    'steps.ptl': fixture('steps.ptl'),
  })
  server = await start(t, folder, { grpcPort: 0 })
  const { inference } = grpc.loadPackageDefinition(loadSync(proto, { keepCase: true, longs: Number, defaults: true, oneofs: true })) as {
    inference: Grpc.GrpcObject
  }
  const Service = inference['GRPCInferenceService'] as Grpc.ServiceClientConstructor
  client = new Service(`127.0.0.1:${server.grpcPort}`, grpc.credentials.createInsecure()) as unknown as Client
  t.teardown(() => client.close())
})

/** What a method answers; a refusal is `{ code, details }`. */
function call(method: string, request: Message, options: object = {}): Promise<Message> {
  return new Promise((resolve) => {
    client[method]!(request, new grpc.Metadata(), options, (error: Grpc.ServiceError | null, answer: Message) =>
      resolve(error === null ? answer : { code: error.code, details: error.details }),
    )
  })
}

function floats(...values: number[]): Buffer {
  return Buffer.from(new Float32Array(values).buffer)
}

const X = { name: 'x', datatype: 'FP32', shape: [1, 4] }

t.test('server and models tell what they are', async (t) => {
  t.strictSame(await call('ServerLive', {}), { live: true })
  t.strictSame(await call('ServerReady', {}), { ready: true })
  t.strictSame(await call('ModelReady', { name: 'affine' }), { ready: true })
  t.strictSame(await call('ModelReady', { name: 'none' }), { ready: false })
  t.match(await call('ServerMetadata', {}), { name: 'ptlite', extensions: ['classification'] })
  t.match(await call('ModelMetadata', { name: 'words' }), {
    name: 'words',
    versions: ['1'],
    inputs: [{ name: 'words', datatype: 'BYTES', shape: [-1] }],
  })
  t.match(await call('ModelMetadata', { name: 'none' }), { code: grpc.status.NOT_FOUND, details: "there is no model 'none'" })
})

t.test('raw contents are answered in kind', async (t) => {
  const answer = await call('ModelInfer', { model_name: 'affine', id: 'one', inputs: [X], raw_input_contents: [floats(1, 2, 3, 4)] })
  t.match(answer, {
    model_name: 'affine',
    model_version: '1',
    id: 'one',
    outputs: [{ name: 'output0', datatype: 'FP32', shape: [1, 4], contents: null }],
  })
  t.strictSame((answer['raw_output_contents'] as Buffer[])[0], floats(3, 5, 7, 9))
})

t.test('typed contents, too', async (t) => {
  const x = { ...X, contents: { fp32_contents: [1, 2, 3, 4] } }
  t.match(await call('ModelInfer', { model_name: 'affine', inputs: [x] }), { outputs: [{ contents: { fp32_contents: [3, 5, 7, 9] } }] })
  const outputs = ['whole', 'positive'].map((name) => ({ name }))
  t.match(await call('ModelInfer', { model_name: 'named', inputs: [x], outputs }), {
    outputs: [{ name: 'whole', contents: { int64_contents: [1, 2, 3, 4] } }, { contents: { bool_contents: [true, true, true, true] } }],
  })
  const half = await call('ModelInfer', { model_name: 'named', inputs: [x], outputs: [{ name: 'half' }] })
  t.equal((half['raw_output_contents'] as Buffer[])[0]!.length, 8, 'what has no contents of its own is raw')
  const words = { name: 'words', datatype: 'BYTES', shape: [1], contents: { bytes_contents: [Buffer.from('ab')] } }
  const times = { name: 'times', datatype: 'INT64', shape: [1], contents: { int64_contents: [3] } }
  const said = await call('ModelInfer', { model_name: 'words', inputs: [words, times] })
  t.match(said, { outputs: [{ datatype: 'BYTES' }, { contents: { int64_contents: [1] } }] })
  t.equal(String((said['outputs'] as { contents: { bytes_contents: Buffer[] } }[])[0]!.contents.bytes_contents[0]), 'ababab')
  const classes = [{ name: 'output0', parameters: { classification: { int64_param: 1 } } }]
  const likeliest = await call('ModelInfer', { model_name: 'affine', inputs: [x], outputs: classes })
  t.equal(String((likeliest['outputs'] as { contents: { bytes_contents: Buffer[] } }[])[0]!.contents.bytes_contents[0]), '9:3')
})

t.test('what makes no sense is refused', async (t) => {
  const refused: readonly (readonly [Message, RegExp])[] = [
    [{ model_name: 'affine', inputs: [X] }, /needs 4 elements, found 0/],
    [{ model_name: 'affine', inputs: [{ ...X, name: '' }] }, /"name"/],
    [{ model_name: 'affine', inputs: [X], raw_input_contents: [floats(1)] }, /has 16 bytes, found 4/],
    [{ model_name: 'affine', inputs: [X], raw_input_contents: [floats(1, 2, 3, 4), floats(1)] }, /of all 1 inputs/],
    [{ model_name: 'affine', inputs: [{ ...X, contents: { fp32_contents: [1] } }], raw_input_contents: [floats(1, 2, 3, 4)] }, /both/],
    [{ model_name: 'affine', inputs: [{ ...X, datatype: 'FP8' }] }, /expected "datatype"/],
    [{ model_name: 'affine', inputs: [{ ...X, shape: [-1, 4] }] }, /whole numbers/],
  ]
  for (const [request, details] of refused) t.match(await call('ModelInfer', request), { code: grpc.status.INVALID_ARGUMENT, details })
  t.match(await call('ModelInfer', { model_name: 'none' }), { code: grpc.status.NOT_FOUND })
})

const long = { name: 'x', datatype: 'FP32', shape: [1000], contents: { fp32_contents: Array.from({ length: 1000 }, () => 1) } }
const forever = { name: 'n', datatype: 'INT64', shape: [1], contents: { int64_contents: [1e9] } }

t.test('deadlines and cancelled calls end the run', async (t) => {
  const request = { model_name: 'steps', inputs: [long, forever] }
  t.match(await call('ModelInfer', request, { deadline: Date.now() + 200 }), { code: grpc.status.DEADLINE_EXCEEDED })
  const timeout = { timeout: { int64_param: 100_000 } }
  t.match(await call('ModelInfer', { ...request, parameters: timeout }), { code: grpc.status.DEADLINE_EXCEEDED })
  const calls = [0, 1, 2].map(() => client['ModelInfer']!(request, () => undefined))
  await new Promise((resolve) => setTimeout(resolve, 100))
  for (const each of calls) each.cancel()
  const next = { ...forever, contents: { int64_contents: [1] } }
  t.match(await call('ModelInfer', { model_name: 'steps', inputs: [long, next] }), { model_name: 'steps' }, 'workers are free again')
})

t.test('streams answer each request', async (t) => {
  const stream = (client['ModelStreamInfer'] as unknown as () => Grpc.ClientDuplexStream<Message, Message>)()
  const answers: Message[] = []
  stream.on('data', (answer: Message) => answers.push(answer))
  const ended = new Promise((resolve) => stream.on('end', resolve))
  for (let i = 0; i < 100; i++) stream.write({ model_name: 'affine', id: String(i), inputs: [X], raw_input_contents: [floats(i, 0, 0, 0)] })
  stream.write({ model_name: 'none', id: 'no' })
  stream.end()
  await ended
  t.equal(answers.length, 101)
  t.equal(answers.filter(({ error_message: text }) => text === "there is no model 'none'").length, 1)
  for (const { infer_response: answer } of answers as unknown as { infer_response: { id: string; raw_output_contents: Buffer[] } | null }[])
    if (answer !== null) t.strictSame(answer.raw_output_contents[0], floats(2 * Number(answer.id) + 1, 1, 1, 1))
})

t.test('statistics and the repository', async (t) => {
  t.match(await call('ModelStatistics', { name: 'affine' }), { model_stats: [{ name: 'affine', version: '1' }] })
  t.equal(((await call('ModelStatistics', {}))['model_stats'] as unknown[]).length, 4)
  t.match(await call('RepositoryModelUnload', { model_name: 'affine' }), {})
  const { models } = (await call('RepositoryIndex', {})) as { models: { name: string; state: string }[] }
  t.equal(models.find(({ name }) => name === 'affine')!.state, 'UNAVAILABLE')
  t.match(await call('RepositoryModelLoad', { model_name: 'affine' }), {})
  t.strictSame(await call('ModelReady', { name: 'affine', version: '1' }), { ready: true })
  t.match(await call('RepositoryModelLoad', { model_name: '../affine' }), { code: grpc.status.NOT_FOUND })
})
