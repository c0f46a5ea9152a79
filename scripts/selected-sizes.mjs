// Sizes of the selective builds of one model, from the largest kind to the smallest, as a table:
// node scripts/selected-sizes.mjs MODEL TRACE [selective-build's options, such as --isa avx2]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [model, trace, ...options] = process.argv.slice(2)
const command = fileURLToPath(new URL('../dist/selective-build.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ptlite-sizes-'))
const kinds = [
  ['by model', ['--model', model]],
  ['by trace', ['--trace', trace, '--all-dtypes']],
  ['by trace and dtype', ['--trace', trace]],
]

function build(args) {
  const { status, stderr } = spawnSync(process.execPath, [command, ...args, ...options, '--out', folder, '--no-verify'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))
}

try {
  const reports = kinds.map(([name, args]) => [name, build(args)])
  const whole = reports[0][1]
  const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`
  const row = (name, javascript, gzipped, native) => console.log(`| ${name} | ${kB(javascript)} | ${kB(gzipped)} | ${kB(native)} |`)
  console.log('| build | JavaScript, minified | and gzipped | kernel library |\n| --- | ---: | ---: | ---: |')
  row('whole library', whole.javascript.before, whole.javascript.gzipped.before, whole.native.before)
  for (const [name, { javascript, native }] of reports) row(name, javascript.after, javascript.gzipped.after, native.after)
} finally {
  rmSync(folder, { recursive: true })
}
