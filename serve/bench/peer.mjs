// What one writes by hand: fastify and onnxruntime-node, for the same requests. One model per name, no batching, errors are fastify's.
import { readdirSync } from 'node:fs'
import { fastify } from 'fastify'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { folder } from './models.mjs'
import { watchEventLoop } from './event-loop.mjs'

const sessions = new Map()
for (const file of readdirSync(folder).filter((name) => name.endsWith('.onnx')))
  sessions.set(file.replace('.onnx', ''), await InferenceSession.create(folder + file))

const app = fastify({ bodyLimit: 64 << 20 })
app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

function tensorOf({ datatype, shape, data }) {
  return datatype === 'INT64'
    ? new Tensor('int64', BigInt64Array.from(data, BigInt), shape)
    : new Tensor('float32', Float32Array.from(data), shape)
}

app.post('/v2/models/:model/infer', async (request, reply) => {
  const { model } = request.params
  const session = sessions.get(model)
  const length = request.headers['inference-header-content-length']
  if (length === undefined) {
    const { output } = await session.run({ input: tensorOf(request.body.inputs[0]) })
    return { model_name: model, outputs: [{ name: 'output', datatype: 'FP32', shape: output.dims, data: Array.from(output.data) }] }
  }
  const json = JSON.parse(request.body.toString('utf8', 0, Number(length)))
  const bytes = Uint8Array.prototype.slice.call(request.body, Number(length))
  const { output } = await session.run({ input: new Tensor('float32', new Float32Array(bytes.buffer), json.inputs[0].shape) })
  const data = Buffer.from(output.data.buffer, output.data.byteOffset, output.data.byteLength)
  const header = Buffer.from(
    JSON.stringify({
      model_name: model,
      outputs: [{ name: 'output', datatype: 'FP32', shape: output.dims, parameters: { binary_data_size: data.length } }],
    }),
  )
  reply.header('inference-header-content-length', header.length).type('application/octet-stream')
  return Buffer.concat([header, data])
})

await app.listen({ port: 0, host: '127.0.0.1' })
watchEventLoop()
process.send({ port: app.server.address().port })
