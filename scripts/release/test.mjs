// Installs the packed packages into an empty folder, without a network, and uses them as an application does.
//
//   node scripts/release/test.mjs [FOLDER] [--on HOST]... [--install] [--ops DIR] [--models DIR] [--share PERCENT] [--cases FILE]
//
// FOLDER     what scripts/release/build.mjs wrote, build/release without
// --on       native (the default), wine, arm64 (by QEMU), bullseye (a root of Debian 11), or all
// --install  gets what they need: Debian's packages as root, Node from npm
// --ops, --models   conformance cases, judged by --cases (../shared/check/run-cases.mjs) on Wine; of the former a share of the files
// Exits with 77 where nothing failed and a host could not be used.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { HOSTS } from './hosts.mjs'
import { root } from '../targets.mjs'
import { trySelectiveBuild } from './selective.mjs'
import { tryServer } from './server.mjs'
import { tryWeb } from './web.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', multiple: true, default: ['native'] },
    install: { type: 'boolean', default: false },
    ops: { type: 'string' },
    models: { type: 'string' },
    share: { type: 'string', default: '100' },
    cases: { type: 'string', default: join(root, '../shared/check/run-cases.mjs') },
  },
})
const packed = resolve(positionals[0] ?? join(root, 'build/release'))
const wanted = values.on.includes('all') ? HOSTS : values.on.map((name) => HOSTS.find((host) => host.name === name))
if (wanted.includes(undefined)) throw new Error(`--on ${values.on.join(' ')}: expected ${HOSTS.map(({ name }) => name).join(', ')} or all`)
const archives = readdirSync(packed).filter((name) => name.endsWith('.tgz'))
const main = archives.find((name) => /^ptlite-\d/.test(name))

const scratch = mkdtempSync(join(tmpdir(), 'ptlite-release-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
/** npm is a script of Windows' own shell there. */
const npm = process.platform === 'win32' ? ['cmd', '/c', 'npm'] : ['npm']

/** What it prints goes by way of files: Node makes sockets, which Wine has no use for. */
function run(folder, [command, ...args], env = {}) {
  const printed = ['stdout', 'stderr'].map((name) => join(scratch, name))
  const files = printed.map((path) => openSync(path, 'w'))
  const { status } = spawnSync(command, args, { cwd: folder, stdio: ['ignore', ...files], env: { ...process.env, NODE_PATH: '', ...env } })
  for (const file of files) closeSync(file)
  const [stdout, stderr] = printed.map((path) => readFileSync(path, 'utf8').replaceAll('\r\n', '\n'))
  return { status, stdout, stderr }
}

function succeed(...call) {
  const { status, stdout, stderr } = run(...call)
  assert.equal(status, 0, `${call[1].join(' ')}: ${stdout}${stderr}`)
  return stdout
}

const PROGRAM = `
const use = async ({ loadModule, tensor }) => {
  const model = await loadModule('digits.ptl')
  const input = () => tensor(new Uint8Array(64), [1, 1, 8, 8], 'uint8')
  const { shape } = model.forward(input())
  const { length } = (await model.run('forward', [input()])).data()
  console.log(shape.join('x'), length)
}
`

/** An app that has nothing but its own files. */
function newApp() {
  const app = mkdtempSync(join(tmpdir(), 'ptlite-release-'))
  process.on('exit', () => rmSync(app, { recursive: true, force: true }))
  copyFileSync(join(root, 'examples/digits/digits.ptl'), join(app, 'digits.ptl'))
  for (const name of ['shapes.pt2', 'labels.txt', 'triangle.jpg']) copyFileSync(join(root, 'examples/classify', name), join(app, name))
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true }\n')
  writeFileSync(join(app, 'app.mjs'), `import * as ptlite from 'ptlite'\n${PROGRAM}await use(ptlite)\n`)
  writeFileSync(join(app, 'app.cjs'), `${PROGRAM}use(require('ptlite'))\n`)
  return app
}

function tryOn(host) {
  const own = archives.find((name) => name.startsWith(`ptlite-${host.platform}-`))
  assert.ok(main !== undefined && own !== undefined, `no packages for ${host.platform} in ${packed}; run scripts/release/build.mjs first`)
  const app = newApp()
  const install = (names, ...options) => {
    // npm looks at its own platform for what is named
    const forHost = host.name === 'native' ? [] : ['--force', `--os=${host.system}`, `--cpu=${host.cpu}`]
    succeed(app, [
      ...npm,
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      ...forHost,
      ...options,
      ...names.map((name) => join(packed, name)),
    ])
  }
  let there = ''
  const node = (...args) => [app, host.command(args, there), host.env]
  const cli = 'node_modules/ptlite/dist/cli.js'

  // without the platform's package the error says what to install
  install([main], '--omit=optional')
  there = host.place(app)
  const bare = run(...node('app.mjs'))
  assert.notEqual(bare.status, 0)
  assert.match(bare.stderr, new RegExp(`npm install @ptlite/${host.platform}`))
  assert.match(bare.stderr, /PtliteError: no kernel library/)

  install([main, own])
  there = host.place(app)
  for (const file of ['app.mjs', 'app.cjs']) assert.equal(succeed(...node(file)), '1x10 10\n', file)
  assert.match(succeed(...node(cli, 'cpu')), /capability|level/i)
  assert.match(succeed(...node(cli, 'demo', '--plain')), /digits\.ptl .* 360 of 360 /)
  // by the decoders, which are a file of their own
  const classify = [
    'run',
    'shapes.pt2',
    '--image',
    'triangle.jpg',
    '--size',
    '32',
    '--mean',
    '0.5',
    '--std',
    '0.5',
    '--labels',
    'labels.txt',
  ]
  assert.match(succeed(...node(cli, ...classify)), /^ *\d+\.\d %  triangle\n/)
  if (host.name === 'native') assert.match(succeed(app, [...npm, 'exec', '--', 'ptlite', '--version']), /\d/)
  console.log(`installed and used ${host.how}: ${main}, ${own}`)
  return app
}

/** A folder of links to a share of the files of operator cases: every so many of them. */
function sample(folder, app) {
  const out = join(app, 'opcases')
  mkdirSync(out)
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
  const step = 100 / Number(values.share)
  for (let at = 0; at < files.length; at += step) symlinkSync(resolve(folder, files[Math.floor(at)]), join(out, files[Math.floor(at)]))
  return out
}

function conformance(host, app) {
  for (const [flag, folder] of [
    ['--models', values.models],
    ['--ops', values.ops],
  ]) {
    if (folder === undefined) continue
    const from = flag === '--ops' ? sample(folder, app) : resolve(folder)
    const args = [resolve(values.cases), '--lib', 'node_modules/ptlite/dist/index.js', flag, from]
    const output = succeed(app, host.command(args, app), host.env)
    console.log(`${output.trim()}: ${flag.slice(2)} ${host.how}`)
  }
}

let skipped = 0
for (const host of wanted) {
  const missing = host.missing(values.install)
  if (missing.length > 0) {
    console.log(`skipped ${host.name}: it needs ${missing.join('; ')}`)
    skipped++
    continue
  }
  const app = tryOn(host)
  if (host.name === 'wine') conformance(host, app)
  if (host.name === 'native') {
    const tools = { app, packed, archives, run: (...call) => run(app, call), succeed: (...call) => succeed(app, call) }
    await tryWeb(tools)
    trySelectiveBuild(tools)
    await tryServer(tools)
  }
}
process.exitCode = skipped > 0 ? 77 : 0
