import { deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { started } from './support/started.js'

t.test('compressed bodies', async (t) => {
  const { url } = await started(t, ['--max-body', '1000000'])
  const json = JSON.stringify({ inputs: [{ name: 'x', shape: [1, 4], datatype: 'FP32', data: [1, 2, 3, 4] }] })
  const infer = async (body: Uint8Array, encoding: string, headers: Record<string, string> = {}): Promise<[number, string]> => {
    const answer = await fetch(`${url}/v2/models/echo/infer`, {
      method: 'POST',
      headers: { 'content-encoding': encoding, ...headers },
      body,
    })
    return [answer.status, await answer.text()]
  }
  const head = JSON.stringify({ inputs: [{ name: 'x', shape: [1, 4], datatype: 'FP32', parameters: { binary_data_size: 16 } }] })
  const binary = Buffer.concat([Buffer.from(head), Buffer.from(Float32Array.of(1, 2, 3, 4).buffer)])
  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const) {
    t.match(await infer(compress(json), encoding), [200, /"data":\[3,5,7,9\]/], encoding)
    const length = { 'inference-header-content-length': String(head.length) }
    t.match(await infer(compress(binary), encoding, length), [200, /"data":\[3,5,7,9\]/], `${encoding}, binary tensors`)
    t.match(await infer(Buffer.from(json), encoding), [400, /Content-Encoding/], `what is not ${encoding}`)
    t.match(await infer(compress(json).subarray(0, 20), encoding), [400, /Content-Encoding/], 'what is cut off')
    t.match(await infer(compress(Buffer.alloc(50_000_000)), encoding), [413, /bytes/], 'what becomes larger than a body may be')
  }
  t.match(await infer(Buffer.from(json), 'br'), [415, /gzip or deflate/])
  t.match(await infer(Buffer.from(json), 'identity'), [200, /outputs/])
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, /^ptlite_serve_body_bytes 0$/m, 'nothing of them is left')
})
