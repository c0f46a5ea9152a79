// Bytes of what a user loads: the JavaScript of the package in dist that importing it takes, then a first call, a first MobileNetV2 (loaded and
// called three times, which compiles it), all there is, and the kernel library.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { Session } from 'node:inspector'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist/', import.meta.url)
const loaded = new Set()
const session = new Session()
session.connect()
session.on('Debugger.scriptParsed', ({ params: { url } }) => {
  if (url.startsWith(dist.href)) loaded.add(basename(url))
})
session.post('Debugger.enable')

const kB = (bytes) => `${(bytes / 1000).toFixed(1).padStart(9)} kB`
function report(title, files) {
  const contents = files.map((name) => readFileSync(new URL(name, dist)))
  const sum = (size) => kB(contents.reduce((bytes, content) => bytes + size(content), 0))
  console.log(
    `${title.padEnd(34)} ${sum(({ length }) => length)}, gzipped ${sum((content) => gzipSync(content, { level: 9 }).length)}  ${files.join(' ')}`,
  )
}

const { callOperator, loadModule, tensor } = await import(new URL('index.js', dist).href)
report('loaded by import', [...loaded])
callOperator('aten::relu', [tensor(new Float32Array([-1, 2]), [2])]).dispose()
report('... and an operator', [...loaded])
const m = await loadModule(fileURLToPath(new URL('../test/fixtures/models/mobilenet_v2.ptl', import.meta.url)))
const x = tensor(new Float32Array(3 * 64 * 64).fill(0.5), [1, 3, 64, 64])
m.forward(x)
report('... and MobileNetV2, interpreted', [...loaded])
for (let i = 0; i < 2; i++) m.forward(x)
report('... and compiled', [...loaded])
session.disconnect()

const others = ['cli.js', 'cli.cjs', 'selective-build.js', 'build-selected.js', 'whole.js']
const all = readdirSync(dist).filter((name) => /\.c?js$/.test(name) && !others.includes(name))
report('all parts', all.sort())
for (const name of ['whole.js', 'cli.cjs']) report(`in one file: ${name}`, [name])
console.log(`${'libptlite.so'.padEnd(34)} ${kB(statSync(new URL('libptlite.so', dist)).size)}`)
