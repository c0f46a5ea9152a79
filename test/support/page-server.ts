import { createReadStream, existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fixturePath } from '../module/fixtures.js'

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url))
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }
const ISOLATION = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }

/** What a server answers in place of the files that it has. */
export interface Override {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Serves dist, models of the fixtures at `/models/`, and `files` by their paths. `/isolated/NAME` and `/open/NAME` are pages that run `/NAME.js`. `look` sees requests for
 * models first: it may answer with a status of its own, or give headers.
 */
export function pageServer(files: Readonly<Record<string, string>>, look?: (request: IncomingMessage) => Override): Server {
  return createServer((request, response) => {
    const { url = '/' } = request
    const page = /^\/(isolated|open)\/(.+)$/.exec(url)
    // all that an isolated page has comes with these
    const headers = page?.[1] === 'open' ? {} : { ...ISOLATION, 'Cross-Origin-Resource-Policy': 'same-origin' }
    const type = page === null ? (TYPES[extname(url)] ?? 'application/octet-stream') : 'text/html'
    const text =
      page === null ? files[url] : `<!doctype html><link rel="icon" href="data:,"><script type="module" src="/${page[2]}.js"></script>`
    const isModel = url.startsWith('/models/')
    const file = isModel ? fixturePath(url.slice(1)) : join(DIST, url)
    const { status, headers: more } = (isModel ? look?.(request) : undefined) ?? { status: 200 }
    if (text === undefined && !existsSync(file)) response.writeHead(404, headers)
    else response.writeHead(status, { ...headers, 'Content-Type': type, ...more })
    if (text !== undefined) response.end(text)
    else if (existsSync(file) && status === 200 && request.method === 'GET') createReadStream(file).pipe(response)
    else response.end()
  })
}
