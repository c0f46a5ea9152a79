import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { ByteSource } from '../../formats/containers/bytes.js'
import { ZipArchive } from '../../formats/containers/zip/archive.js'
import { zip } from '../module/zip-writer.js'

/** A model with 3 MB of something else in its archive. */
export function padded(model: Uint8Array): Uint8Array {
  const archive = new ZipArchive(new ByteSource('the model', model), false)
  const records = archive.recordNames().map((name) => ({ name: `m/${name}`, data: Uint8Array.from(archive.contentOf(name)) }))
  const padding = Uint8Array.from({ length: 3 << 20 }, (_, i) => (i * i) >> 7)
  return zip([...records, { name: 'm/extra/padding', data: padding }])
}

/** What a server of one file does. Each may be changed while it runs. */
export interface Conduct {
  body: Uint8Array
  /** '' for none. */
  tag: string
  /** Connections that break after so many bytes of an answer, one after the other. */
  breaks: number[]
  ranges: boolean
  /** Status of every answer, where it is not the file. */
  status: number
  /** In place of the length of what comes; null says none. */
  length: number | null | undefined
  /** What an answer with a part says of it. */
  contentRange: string | undefined
  packed: boolean
}

export interface ModelServer {
  readonly base: string
  readonly conduct: Conduct
  /** Requests, each with its range and its condition. */
  readonly asked: string[]
  readonly heads: IncomingMessage['headers'][]
  close(): Promise<void>
}

/** A server of one file under every address, but `/gone`, `/moved` and `/around`. */
export async function modelServer(body: Uint8Array): Promise<ModelServer> {
  const conduct: Conduct = {
    ...{ body, tag: '"1"', breaks: [], ranges: true, status: 200, length: undefined, contentRange: undefined, packed: false },
  }
  const asked: string[] = []
  const heads: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    const { range, 'if-none-match': condition } = request.headers
    asked.push([request.method, range, condition && 'conditional'].filter(Boolean).join(' '))
    heads.push(request.headers)
    answer(request.url!, range, condition, response)
  })

  function answer(url: string, range: string | undefined, condition: string | undefined, response: ServerResponse): void {
    const { body, tag, ranges, status, contentRange, packed } = conduct
    if (url === '/moved') return void response.writeHead(302, { location: '/model.ptl' }).end()
    if (url === '/around') return void response.writeHead(302, { location: '/around' }).end()
    if (url === '/gone') return void response.writeHead(404).end('<html></html>')
    if (status !== 200) return void response.writeHead(status).end('in trouble')
    const named = tag === '' ? {} : { etag: tag }
    if (condition !== undefined && condition === tag) return void response.writeHead(304, named).end()
    const first = ranges ? Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0) : 0
    if (first > 0 && first >= body.length) return void response.writeHead(416, named).end()
    const part = packed ? gzipSync(body) : body.subarray(first)
    const length = conduct.length === undefined ? part.length : conduct.length
    response.writeHead(first > 0 ? 206 : 200, {
      ...named,
      ...(length === null ? {} : { 'content-length': length }),
      ...(packed ? { 'content-encoding': 'gzip' } : {}),
      ...(first > 0 ? { 'content-range': contentRange ?? `bytes ${first}-${body.length - 1}/${body.length}` } : {}),
    })
    const end = conduct.breaks.shift()
    if (end === undefined) return void response.end(part)
    response.write(part.subarray(0, end), () => setTimeout(() => response.destroy(), 50))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ conduct, asked, heads },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What the Cache API does, in memory. */
export class MemoryCache {
  readonly entries = new Map<string, { readonly body: ArrayBuffer; readonly headers: Headers }>()
  async match(address: string): Promise<Response | undefined> {
    const found = this.entries.get(address)
    return found && new Response(await Promise.resolve(found.body.slice(0)), { headers: found.headers })
  }
  async put(address: string, response: Response): Promise<void> {
    this.entries.set(address, { body: await response.arrayBuffer(), headers: response.headers })
  }
  delete(address: string): Promise<boolean> {
    return Promise.resolve(this.entries.delete(address))
  }
}
