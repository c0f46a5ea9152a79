/** Requests whose every byte is given, and whole answers. */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

/**
 * @typedef {{ method: string, path: string, headers?: Record<string, string>, body?: Uint8Array | string }} Request
 * @typedef {{ status: number, headers: Record<string, string>, body: Buffer, json: any, raw: Buffer }} Answer
 */

/** `path` begins with `v2`, as the specification writes it. No header is sent that is not given, but for Host and Content-Length. */
export function send(base, { method, path, headers = {}, body }, timeoutMs = 30_000) {
  const url = new URL(`${base.replace(/\/+$/, '')}/${path}`)
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(body)
    const length = bytes === undefined && method === 'GET' ? {} : { 'content-length': String(bytes?.length ?? 0) }
    const outgoing = start(url, { method, headers: { ...headers, ...length }, timeout: timeoutMs }, (incoming) => {
      const parts = []
      incoming.on('data', (part) => parts.push(part))
      incoming.on('error', reject)
      incoming.on('end', () => resolve(answerOf(incoming, Buffer.concat(parts))))
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}

function answerOf({ statusCode, headers }, body) {
  const length = headers['inference-header-content-length']
  const split = length === undefined ? body.length : Number(length)
  let json
  try {
    json = JSON.parse(body.subarray(0, split).toString())
  } catch {
    // a row that wants JSON says so
  }
  return { status: statusCode, headers, body, json, raw: body.subarray(split) }
}
