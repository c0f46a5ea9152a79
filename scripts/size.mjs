// Bytes of what a user loads, and fails where that is over its budget: the JavaScript of the package in dist that importing it takes, then a first call, a first MobileNetV2 (loaded and
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

/** Gzipped kB that a program may load. */
const BUDGETS = { 'loaded by import': 60, '... and MobileNetV2, interpreted': 168, '... and compiled': 300 }
/** What a change may add before anybody has to look at it. */
const AIR = 1.05

const kB = (bytes) => `${(bytes / 1000).toFixed(1).padStart(9)} kB`
function report(title, files) {
  const contents = files.map((name) => readFileSync(new URL(name, dist)))
  const sum = (size) => contents.reduce((bytes, content) => bytes + size(content), 0)
  const gzipped = sum((content) => gzipSync(content, { level: 9 }).length)
  console.log(`${title.padEnd(34)} ${kB(sum(({ length }) => length))}, gzipped ${kB(gzipped)}  ${files.join(' ')}`)
  if (gzipped <= 1000 * AIR * (BUDGETS[title] ?? Infinity)) return
  console.error(`${title}: over the budget of ${BUDGETS[title]} kB`)
  process.exitCode = 1
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
