// A page of Chromium that has the library, tokenizers and files of models.
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../../', import.meta.url))
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' }
/** Pages that are isolated from others have memory that threads share. */
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
}
const PLACES = {
  '/ptlite/': join(root, 'dist'),
  '/tokenizers/': join(root, 'node_modules/@huggingface/tokenizers/dist'),
  '/jinja/': join(root, 'node_modules/@huggingface/jinja/dist'),
  '/scripts/': join(root, 'scripts/models'),
}
const IMPORTS = {
  'ptlite/web': '/ptlite/web.js',
  '@huggingface/tokenizers': '/tokenizers/tokenizers.mjs',
  '@huggingface/jinja': '/jinja/index.js',
}
/** Notes the memory that is made for the kernels, whose size says how much a model took at most: it only grows. */
const MEMORIES = `globalThis.memories = []
  const { Memory } = WebAssembly
  WebAssembly.Memory = function (options) { const made = new Memory(options); memories.push(made); return made }
  WebAssembly.Memory.prototype = Memory.prototype
  globalThis.megabytes = () => Math.round(Math.max(0, ...memories.map(({ buffer }) => buffer.byteLength)) / 1e6)`

/** What is at a path: a file of one of the folders, or undefined. */
function fileAt(path, folders) {
  const prefix = Object.keys(folders).find((start) => path.startsWith(start))
  if (prefix === undefined) return undefined
  if (path === prefix) return folders[prefix]
  const file = join(folders[prefix], decodeURIComponent(path.slice(prefix.length)))
  return file.startsWith(join(folders[prefix], sep)) && existsSync(file) && statSync(file).isFile() ? file : undefined
}

/** Opens a page that runs `program`, with `folders` (`{ '/models/': path }`) and `data` (`{ '/name': bytes }`) at their addresses. Gives the tab, and what closes it. */
export async function openPage(program, folders, data = {}) {
  const head = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script>${MEMORIES}</script><script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    if (pathname === '/')
      return response.writeHead(200, { 'Content-Type': 'text/html', ...HEADERS }).end(`${head}<script type="module">${program}</script>`)
    if (data[pathname] !== undefined) return response.writeHead(200, HEADERS).end(data[pathname])
    const file = fileAt(pathname, { ...PLACES, ...folders })
    if (file === undefined) return response.writeHead(404, HEADERS).end()
    response.writeHead(200, {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'Content-Length': statSync(file).size,
      ...HEADERS,
    })
    createReadStream(file).pipe(response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.launch({
    executablePath: process.env.PTLITE_CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
    ],
  })
  const tab = await browser.newPage()
  tab.on('pageerror', (error) => console.error(`page: ${error.message}`))
  tab.on('console', (message) => console.log(`page: ${message.text()}`))
  return {
    open: () => tab.goto(`http://localhost:${server.address().port}/`),
    tab,
    close: async () => {
      await browser.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
