// Serves the page to this machine alone: node serve.mjs [PORT]
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pageFiles } from './files.mjs'

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
}

/** Pages that are isolated from others have memory that threads share. */
export const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** A server of the page's files and no others. */
export function pageServer() {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    // looked up anew, so that files that are being written on appear
    const path = pageFiles().get(pathname === '/' ? 'index.html' : decodePath(pathname))
    const isThere = path !== undefined && existsSync(path)
    if (!isThere || !['GET', 'HEAD'].includes(request.method)) {
      response.writeHead(isThere ? 405 : 404, { 'Content-Type': 'text/plain', ...ISOLATION }).end(isThere ? 'GET only\n' : 'No such file\n')
      return
    }
    response.writeHead(200, {
      'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
      'Content-Length': statSync(path).size,
      'Cache-Control': 'no-cache',
      ...ISOLATION,
    })
    if (request.method === 'HEAD') response.end()
    else createReadStream(path).pipe(response)
  })
}

function decodePath(pathname) {
  try {
    return decodeURIComponent(pathname).slice(1)
  } catch {
    return ''
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = [...pageFiles()].filter(([place, path]) => place.startsWith('ptlite/') && !existsSync(path))
  if (missing.length > 0) {
    console.error(`dist/${missing[0][0].slice('ptlite/'.length)} is missing; run 'npm run build:web' first`)
    process.exit(1)
  }
  const port = Number(process.argv[2] ?? 8000)
  pageServer()
    .listen(port, '127.0.0.1', function () {
      console.log(`http://localhost:${this.address().port}/`)
    })
    .on('error', (error) => {
      console.error(error.code === 'EADDRINUSE' ? `port ${port} is in use; give another one: node serve.mjs 8001` : error.message)
      process.exit(1)
    })
}
