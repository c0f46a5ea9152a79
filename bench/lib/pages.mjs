import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'

const here = dirname(fileURLToPath(import.meta.url))
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' }
/** Folders of the two libraries. */
const PREFIXES = { '/ptlite/': join(here, '../../dist'), '/ort/': join(here, '../node_modules/onnxruntime-web/dist') }
/** Of pages whose memory threads may share. */
const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' }

/** A page that runs `program`. */
export function pageOf(program) {
  return `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">${program}</script>`
}

/**
 * Serves both libraries, `pages` by their paths, and what `fileOf(path)` names. Code of both is sent as a server compresses it (gzip), files as they are. Gives the
 * address, `sent`, the bytes of all answers so far, and `close`.
 */
export async function servePages({ pages, fileOf, isolated = false }) {
  // made once: a server has them compressed
  const answers = new Map()
  const packed = (bytes, type) => ({ bytes: gzipSync(bytes, { level: 9 }), headers: { 'content-type': type, 'content-encoding': 'gzip' } })
  const made = (path) => {
    if (pages[path] !== undefined) return packed(Buffer.from(pages[path]), 'text/html')
    const file = fileOf(path)
    if (file !== undefined)
      return { bytes: readFileSync(file), headers: { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' } }
    const prefix = Object.keys(PREFIXES).find((start) => path.startsWith(start))
    if (prefix === undefined || path.includes('..')) return undefined
    return packed(readFileSync(join(PREFIXES[prefix], path.slice(prefix.length))), TYPES[extname(path)])
  }
  const answerTo = (path) => {
    if (!answers.has(path)) answers.set(path, made(path))
    return answers.get(path)
  }
  const served = { address: '', sent: 0, close: () => undefined }
  const server = createServer(({ url }, response) => {
    let answer
    try {
      answer = answerTo(new URL(url, 'http://localhost').pathname)
    } catch {
      answer = undefined
    }
    if (answer === undefined) return response.writeHead(404).end()
    served.sent += answer.bytes.length
    const headers = {
      ...answer.headers,
      ...(isolated ? ISOLATED : {}),
      'content-length': answer.bytes.length,
      'cache-control': 'max-age=3600',
    }
    response.writeHead(200, headers).end(answer.bytes)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  served.address = `http://localhost:${server.address().port}`
  served.close = () => {
    server.closeAllConnections()
    server.close()
  }
  return served
}

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Milliseconds, on machines with other work. */
export const PATIENCE = 180_000
/** What a browser does for itself at its start, such as its own first page, takes the processors for some time. */
const SETTLING = 1500

/** Opens a page that says what it is by `globalThis.facts`, and gives that. Throws where it has other threads than it was to have. */
export async function openFacts(tab, address, threads) {
  tab.on('pageerror', (error) => console.error(error.message))
  await tab.goto(address, { timeout: PATIENCE })
  const facts = await (await tab.waitForFunction('globalThis.facts', undefined, { timeout: PATIENCE })).jsonValue()
  if (facts.threads !== threads) throw new Error(`the page has ${facts.threads} threads`)
  return facts
}

/** A browser with an empty profile, and a tab of it, once it is at rest. `PTLITE_CHROMIUM` names a Chromium where it is not /usr/bin/chromium. */
export async function openBrowser() {
  const browser = await chromium.launch({
    executablePath: process.env.PTLITE_CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
    timeout: PATIENCE,
  })
  const tab = await browser.newPage()
  await new Promise((resolve) => setTimeout(resolve, SETTLING))
  return { browser, tab }
}
