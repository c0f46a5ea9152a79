// From an empty folder to the first result of a model: `npm install` without a network, from npm's cache or the packed packages, then a program that loads
// MobileNetV2 and runs it once. Beside onnxruntime-node, taking turns; medians of seconds, and what is on the disk after.
//
//   node first-result.mjs [--runs 3]     packs the packages first; fetches onnxruntime-node once, from the registry that npm is configured for
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { modelPath } from './lib/models.mjs'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '3' } } })
const root = fileURLToPath(new URL('..', import.meta.url))
const packed = join(root, 'build/release')
const [ptl, onnx, input] = ['ptl', 'onnx', 'npy'].map((kind) => modelPath('mobilenet_v2', kind))
const { dependencies } = createRequire(import.meta.url)('./package.json')

run(root, process.execPath, 'scripts/release/build.mjs')
const archives = readdirSync(packed).filter(
  (name) => /^ptlite-\d/.test(name) || name.startsWith(`ptlite-${process.platform}-${process.arch}-`),
)
assert.equal(archives.length, 2, `the packages of this platform in ${packed}`)

const readInput = `const { readNpy } = await import(${JSON.stringify(new URL('lib/npy.mjs', import.meta.url).href)}); const { data, shape } = readNpy(${JSON.stringify(input)})`
const RUNTIMES = {
  ptlite: {
    packages: archives.map((name) => join(packed, name)),
    program: `import { loadModule, tensor } from 'ptlite'
      ${readInput}
      const model = await loadModule(${JSON.stringify(ptl)})
      console.log(model.forward(tensor(data, shape)).data().length)`,
  },
  'onnxruntime-node': {
    packages: [`onnxruntime-node@${dependencies['onnxruntime-node']}`],
    program: `import ort from 'onnxruntime-node'
      ${readInput}
      const session = await ort.InferenceSession.create(${JSON.stringify(onnx)}, { intraOpNumThreads: 1, interOpNumThreads: 1 })
      const results = await session.run({ [session.inputNames[0]]: new ort.Tensor('float32', data, shape) })
      console.log(results[session.outputNames[0]].data.length)`,
  },
}

function run(folder, command, ...args) {
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`)
  return { seconds: (performance.now() - start) / 1000, stdout }
}

const work = mkdtempSync(join(tmpdir(), 'ptlite-first-result-'))
try {
  const cache = join(work, 'cache')
  // without scripts: that of onnxruntime-node fetches kernels for GPUs
  const install = (folder, packages, ...options) =>
    run(folder, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--cache', cache, ...options, ...packages).seconds
  const once = (name, ...options) => {
    const { packages, program } = RUNTIMES[name]
    const folder = join(work, 'app')
    mkdirSync(folder)
    try {
      writeFileSync(join(folder, 'package.json'), '{ "name": "app", "private": true }\n')
      writeFileSync(join(folder, 'app.mjs'), program)
      const installed = install(folder, packages, ...options)
      const { seconds, stdout } = run(folder, process.execPath, 'app.mjs')
      assert.equal(stdout, '1000\n')
      return { installed, seconds, all: installed + seconds, bytes: bytesOf(join(folder, 'node_modules')) }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  const names = Object.keys(RUNTIMES)
  for (const name of names) once(name, '--prefer-offline')
  const measured = Object.fromEntries(names.map((name) => [name, []]))
  for (let i = 0; i < Number(values.runs); i++) for (const name of names) measured[name].push(once(name, '--offline'))
  const results = names.map((name) => {
    const of = (key) => median(measured[name].map((each) => each[key]))
    return { name, installed: of('installed'), seconds: of('seconds'), all: of('all'), bytes: of('bytes') }
  })
  console.log('| | npm install | first result | both | on the disk |\n|---|---:|---:|---:|---:|')
  const row = (name, ...cells) => console.log(`| ${name} | ${cells.join(' | ')} |`)
  for (const { name, installed, seconds, all, bytes } of results)
    row(name, ...[installed, seconds, all].map((s) => `${s.toFixed(2)} s`), `${(bytes / 1e6).toFixed(1)} MB`)
  const [own, other] = results
  row('ratio', ...['installed', 'seconds', 'all', 'bytes'].map((key) => `${(own[key] / other[key]).toPrecision(2)}×`))
} finally {
  rmSync(work, { recursive: true })
}

function bytesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

function median(list) {
  return list.sort((a, b) => a - b)[list.length >> 1]
}
