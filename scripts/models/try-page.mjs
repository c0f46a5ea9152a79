#!/usr/bin/env node
// Runs what pages of docs/models show for a page, as it is, in Chromium: try-page.mjs [--models models] [--as NAME=FOLDER]... docs/models/depth.md ...
//
// The code below "In a page" runs with `models` at /models/, where --as says which folder there has another name's model. A canvas of 640 x 480 with a picture is `canvas`, and a WAV file
// of two seconds of a swelling tone is at /talk.wav. Prints what the code prints, how long it ran, and how much memory the kernels have. Exits with 1 where it throws.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { transform } from 'esbuild'
import { tensor, writeWav } from '../../dist/index.js'
import { openPage } from './chromium.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    models: { type: 'string', default: 'models' },
    as: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string', default: '600' },
  },
})
const PICTURE = `const canvas = document.createElement('canvas')
  canvas.width = 640
  canvas.height = 480
  const drawing = canvas.getContext('2d')
  drawing.fillStyle = '#cde'
  drawing.fillRect(0, 0, 640, 480)
  drawing.fillStyle = '#a42'
  drawing.fillRect(200, 150, 220, 260)
  drawing.fillStyle = '#284'
  drawing.arc(480, 300, 90, 0, 7)
  drawing.fill()
  globalThis.canvas = canvas`
const RATE = 16000
const tone = Float32Array.from({ length: 2 * RATE }, (_, i) => 0.5 * Math.sin((Math.PI * i) / (2 * RATE)) * Math.sin(i / 10))

/** The code below a heading of a page of the documentation, as JavaScript. What it says of a function that is as above is put in its place: it stands below "In Node". */
async function codeBelow(path, heading) {
  const text = readFileSync(path, 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  const [, code] = /```ts\n([^]*?)```/.exec(section) ?? []
  if (code === undefined) throw new Error(`${path} has no code below "${heading}"`)
  const whole = code.replace(
    /^\/\/ function (\w+) is as above$/m,
    (_, name) => new RegExp(`^function ${name}\\([^]*?^}$`, 'm').exec(text)[0],
  )
  return (await transform(whole, { loader: 'ts', format: 'esm', target: 'esnext' })).code
}

for (const path of positionals) {
  const code = await codeBelow(path, 'In a page')
  const program = `${PICTURE}
    const begin = performance.now()
    globalThis.ended = import('/program.js').then(
      () => ({ seconds: (performance.now() - begin) / 1000, memory: megabytes() }),
      (error) => ({ error: String(error.stack) }),
    )`
  const folders = {
    ...Object.fromEntries(values.as.map((each) => each.split('=')).map(([name, folder]) => [`/models/${name}/`, resolve(folder)])),
    '/models/': resolve(values.models),
  }
  const page = await openPage(program, folders, { '/talk.wav': Buffer.from(writeWav(tensor(tone), RATE)) })
  // a module says what it is
  page.tab.route('**/program.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: code, headers: { 'Cross-Origin-Resource-Policy': 'same-origin' } }),
  )
  try {
    await page.open()
    const run = page.tab.evaluate('globalThis.ended')
    const late = new Promise((_, reject) => setTimeout(reject, 1000 * Number(values.seconds), new Error('it takes too long')).unref())
    const { error, seconds, memory } = await Promise.race([run, late])
    // what a microphone brings comes later
    await new Promise((end) => setTimeout(end, 1000))
    console.log(error === undefined ? `${path}: ${seconds.toFixed(1)} s, ${memory} MB` : `${path}: ${error}`)
    if (error !== undefined) process.exitCode = 1
  } finally {
    await page.close()
  }
}
