// Installs the packed packages into an empty folder, without a network, and uses them as an application does.
//
//   node scripts/release/test.mjs [FOLDER]     with what scripts/release/build.mjs wrote
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { root } from './manifests.mjs'

const packed = resolve(process.argv[2] ?? join(root, 'build/release'))
const here = `${process.platform}-${process.arch}`
const app = mkdtempSync(join(tmpdir(), 'ptlite-release-'))
process.on('exit', () => rmSync(app, { recursive: true, force: true }))

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: app, encoding: 'utf8', env: { ...process.env, NODE_PATH: '' } })
  return { status, stdout, stderr }
}

function succeed(command, ...args) {
  const { status, stdout, stderr } = run(command, ...args)
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

const archives = readdirSync(packed).filter((name) => name.endsWith('.tgz'))
const main = archives.find((name) => /^ptlite-\d/.test(name))
const own = archives.find((name) => name.startsWith(`ptlite-${here}-`))
assert.ok(main !== undefined && own !== undefined, `no packages for ${here} in ${packed}; run scripts/release/build.mjs first`)

copyFileSync(join(root, 'examples/digits/digits.ptl'), join(app, 'digits.ptl'))
writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true }\n')
const PROGRAM = `
const use = async ({ loadModule, tensor }) => {
  const model = await loadModule('digits.ptl')
  const shape = model.forward(tensor(new Uint8Array(64), [1, 1, 8, 8], 'uint8')).shape
  console.log(shape.join('x'))
}
`
writeFileSync(join(app, 'app.mjs'), `import * as ptlite from 'ptlite'\n${PROGRAM}await use(ptlite)\n`)
writeFileSync(join(app, 'app.cjs'), `${PROGRAM}use(require('ptlite'))\n`)

// without the platform's package the error says what to install
succeed('npm', 'install', '--offline', '--no-audit', '--no-fund', '--omit=optional', join(packed, main))
const bare = run(process.execPath, 'app.mjs')
assert.notEqual(bare.status, 0)
assert.match(bare.stderr, new RegExp(`npm install @ptlite/${here}`))
assert.match(bare.stderr, /code: 'NATIVE_LIBRARY'/)

succeed('npm', 'install', '--offline', '--no-audit', '--no-fund', join(packed, main), join(packed, own))
for (const file of ['app.mjs', 'app.cjs']) assert.equal(succeed(process.execPath, file), '1x10\n', file)
assert.match(succeed('npx', 'ptlite', 'cpu'), /capability|level/i)
// by the decoders, which are a file of their own
copyFileSync(join(root, 'examples/classify/shapes.pt2'), join(app, 'shapes.pt2'))
copyFileSync(join(root, 'examples/classify/labels.txt'), join(app, 'labels.txt'))
copyFileSync(join(root, 'examples/classify/triangle.jpg'), join(app, 'triangle.jpg'))
const classify = ['run', 'shapes.pt2', '--image', 'triangle.jpg', '--size', '32', '--mean', '0.5', '--std', '0.5', '--labels', 'labels.txt']
assert.match(succeed('npx', 'ptlite', ...classify), /^ *\d+\.\d %  triangle\n/)
console.log(`installed and used: ${main}, ${own}`)
