// Installs the packed packages into an empty folder, without a network, and uses them as an application does.
//
//   node scripts/release/test.mjs [FOLDER]     with what scripts/release/build.mjs wrote
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { root, sourcesManifest } from './manifests.mjs'

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

// a selective build: what it is made of is a package of its own, which the command names where it is missing
const SOURCES = '@ptlite/selective-build'
copyFileSync(join(root, 'test/selective-build/fixtures/add_relu.ptl'), join(app, 'net.ptl'))
copyFileSync(join(root, 'examples/embed/input.json'), join(app, 'input.json'))
const build = ['selective-build', '--trace', 'net.trace', '--isa', 'default', '--out', 'selected']
succeed('npx', 'ptlite', 'trace', 'net.ptl', '--input', 'input.json', '-o', 'net.trace')
const refused = run('npx', ...build)
assert.equal(refused.status, 1)
assert.match(refused.stderr, /^selective-build: .*'npm install --save-dev @ptlite\/selective-build@\d/)
assert.match(succeed('npx', 'selective-build', '--help'), /^selective-build \(--trace FILE/)
// unpacked by hand, with links for what it needs: npm would look for these in a registry
const sources = join(app, 'node_modules', SOURCES)
mkdirSync(sources)
succeed(
  'tar',
  'xzf',
  join(
    packed,
    archives.find((name) => name.startsWith('ptlite-selective-build-')),
  ),
  '-C',
  sources,
  '--strip-components=1',
)
for (const name of Object.keys(sourcesManifest().dependencies)) {
  const link = join(app, 'node_modules', name)
  mkdirSync(dirname(link), { recursive: true })
  if (!existsSync(link)) symlinkSync(join(root, 'node_modules', name), link)
}
assert.match(succeed('npx', ...build), /kernel library/)
writeFileSync(
  join(app, 'selected.mjs'),
  `import { loadModule, tensor } from './selected/index.js'
const x = tensor(new Float32Array([-1, 1]), [2])
console.log((await loadModule('net.ptl')).forward(x, x).toArray())\n`,
)
assert.equal(succeed(process.execPath, 'selected.mjs'), '[ 0, 2 ]\n')
console.log(`installed and used: ${main}, ${own}, ${SOURCES}`)
