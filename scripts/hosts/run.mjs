// Installs the packed packages into an app and runs that in what docs/deploy.md names: other runtimes, bundlers, test runners, package managers. Needs a
// network for the tools (npm ci in this folder), and the packages of scripts/release/build.mjs.
//
//   npm run hosts -- [NAME...]     all without names
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { PUBLISHED, root } from '../targets.mjs'

const here = import.meta.dirname
const packed = join(root, 'build/release')
const model = join(root, 'examples/digits/digits.ptl')
const platformPackage = `@ptlite/${process.platform}-${process.arch}`
const own = `ptlite-${process.platform}-${process.arch}-`
const WANTED = '1x10 1x10\n'

if (!existsSync(join(here, 'node_modules'))) run(here, 'npm', 'ci', '--no-audit', '--no-fund')
run(root, process.execPath, 'scripts/release/build.mjs')
const archives = readdirSync(packed).filter((name) => /^ptlite-\d/.test(name) || name.startsWith(own))

function run(folder, command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...process.env, CI: '1' },
  })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`)
  return stdout
}

/** A tool of this folder. */
function tool(folder, name, ...args) {
  return run(folder, join(here, 'node_modules/.bin', name), ...args)
}

/** The packed packages as dependencies of an app. */
function dependencies() {
  return Object.fromEntries(archives.map((name) => [name.startsWith(own) ? platformPackage : 'ptlite', `file:${join(packed, name)}`]))
}

/** Copies packages of this folder into an app, with what they need. */
function bring(folder, name) {
  const [from, to] = [here, folder].map((each) => join(each, 'node_modules', name))
  if (existsSync(to) || !existsSync(from)) return
  cpSync(from, to, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  for (const other of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) bring(folder, other)
}

function install(folder) {
  run(folder, 'npm', 'install', '--offline', '--no-audit', '--no-fund', ...archives.map((name) => join(packed, name)))
}

/** What a bundle loads from beside it. */
function copyBeside(folder, to) {
  const modules = join(folder, 'node_modules')
  copyFileSync(join(modules, platformPackage, 'libptlite.so'), join(to, 'libptlite.so'))
  for (const name of readdirSync(join(modules, 'ptlite/dist')))
    if (name.endsWith('.cjs')) copyFileSync(join(modules, 'ptlite/dist', name), join(to, name))
}

/** Runs the app from a folder from which its packages are not found, once `fill` has put there what it takes along. */
function runAlone(file, fill) {
  const alone = mkdtempSync(join(tmpdir(), 'ptlite-alone-'))
  try {
    fill(alone)
    assert.equal(run(alone, process.execPath, file, model), WANTED)
  } finally {
    rmSync(alone, { recursive: true })
  }
}

/** Code of a section of docs/deploy.md. */
function recipe(section, language) {
  const text = readFileSync(join(root, 'docs/deploy.md'), 'utf8')
  const [, body] = new RegExp(`^## ${section}\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(text)
  return new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(body)[1]
}

/** What a server that is starting answers. */
async function answerOf(address) {
  for (let i = 0; ; i++) {
    try {
      return await (await fetch(address)).text()
    } catch (error) {
      if (i === 100) throw error
      await setTimeout(200)
    }
  }
}

const TEST = `
test('a model runs', async () => {
  const { loadModule, tensor } = await import('ptlite')
  const module = await loadModule(${JSON.stringify(model)})
  const x = tensor(new Uint8Array(64), [1, 1, 8, 8], 'uint8')
  expect(module.forward(x).shape).toEqual([1, 10])
  expect((await module.run('forward', [x])).shape).toEqual([1, 10])
  module.dispose()
})
`

const HOSTS = {
  bun(app) {
    // not by the package's own command, which a script of its installation puts there
    const [folder] = readdirSync(join(here, 'node_modules/@oven'))
    assert.equal(run(app, join(here, 'node_modules/@oven', folder, 'bin/bun'), 'app.mjs', model), WANTED)
  },
  deno(app) {
    assert.equal(tool(app, 'deno', 'run', '-A', 'app.mjs', model), WANTED)
  },
  pnpm(app) {
    rmSync(join(app, 'node_modules'), { recursive: true })
    writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, dependencies: dependencies() }))
    tool(app, 'pnpm', 'install', '--offline', '--no-frozen-lockfile')
    assert.equal(run(app, process.execPath, 'app.mjs', model), WANTED)
  },
  // Plug'n'Play, as it comes: packages stay zipped, but for those with a library
  yarn(app) {
    for (const name of ['node_modules', 'package-lock.json']) rmSync(join(app, name), { recursive: true })
    const files = dependencies()
    // packages of other platforms are not there to be resolved; yarn leaves out what says so by its name alone
    const resolutions = Object.fromEntries(PUBLISHED.map(({ name }) => [`@ptlite/${name}`, files[platformPackage]]))
    writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, dependencies: files, resolutions }))
    writeFileSync(join(app, 'yarn.lock'), '')
    const settings = ['enableGlobalCache', 'enableTelemetry', 'enableNetwork', 'enableImmutableInstalls']
    writeFileSync(join(app, '.yarnrc.yml'), settings.map((name) => `${name}: false\n`).join(''))
    tool(app, 'yarn', 'install')
    assert.ok(existsSync(join(app, '.pnp.cjs')) && !existsSync(join(app, 'node_modules')))
    assert.equal(tool(app, 'yarn', 'node', 'app.mjs', model), WANTED)
  },
  async next(app) {
    for (const name of ['next', 'react', 'react-dom']) bring(app, name)
    mkdirSync(join(app, 'models'))
    copyFileSync(model, join(app, 'models', basename(model)))
    mkdirSync(join(app, 'app/api'), { recursive: true })
    writeFileSync(join(app, 'app/layout.js'), 'export default function Layout({ children }) {\n  return children\n}\n')
    writeFileSync(
      join(app, 'app/api/route.js'),
      `import { loadModule, tensor } from 'ptlite'
      const loading = loadModule('models/${basename(model)}')
      export const dynamic = 'force-dynamic'
      export async function GET() {
        const model = await loading
        const x = tensor(new Uint8Array(64), [1, 1, 8, 8], 'uint8')
        return new Response(model.forward(x).shape.join('x') + ' ' + (await model.run('forward', [x])).shape.join('x') + '\\n')
      }`,
    )
    writeFileSync(join(app, 'next.config.mjs'), recipe('Next.js', 'js'))
    run(app, process.execPath, 'node_modules/next/dist/bin/next', 'build')
    const alone = mkdtempSync(join(tmpdir(), 'ptlite-alone-'))
    cpSync(join(app, '.next/standalone'), alone, { recursive: true })
    const env = { ...process.env, PORT: '38117', HOSTNAME: '127.0.0.1' }
    const server = spawn(process.execPath, ['server.js'], { cwd: alone, env, stdio: 'ignore' })
    try {
      assert.equal(await answerOf('http://127.0.0.1:38117/api'), WANTED)
    } finally {
      server.kill()
      rmSync(alone, { recursive: true })
    }
  },
  // The archive that electron-builder would make, and a folder in its place for Node: Electron itself is in no package of npm
  async electron(app) {
    const { createPackageWithOptions, extractAll, listPackage } = createRequire(join(here, 'run.mjs'))('@electron/asar')
    const { asarUnpack } = JSON.parse(`{${recipe('Electron', 'json')}}`)
    const resources = mkdtempSync(join(tmpdir(), 'ptlite-alone-'))
    const archive = join(resources, 'app.asar')
    try {
      await createPackageWithOptions(app, archive, { unpack: `{${asarUnpack.map((pattern) => join(app, pattern)).join(',')}}` })
      const listed = listPackage(archive, { isPack: true })
      const beside = listed.filter((line) => line.startsWith('unpack')).map((line) => line.replace(/^\w+ *: *\//, ''))
      assert.ok(
        beside.some((path) => path.endsWith('libptlite.so')) && beside.some((path) => path.endsWith('/worker.cjs')),
        beside.join('\n'),
      )
      const shown = join(resources, 'shown')
      extractAll(archive, shown)
      rmSync(archive)
      cpSync(shown, archive, { recursive: true })
      rmSync(shown, { recursive: true })
      // what native code and threads need is there for them in the other folder alone
      for (const name of ['ptlite/dist/worker.cjs', join(platformPackage, 'libptlite.so')]) rmSync(join(archive, 'node_modules', name))
      assert.equal(run(resources, process.execPath, join(archive, 'app.mjs'), model), WANTED)
    } finally {
      rmSync(resources, { recursive: true })
    }
  },
  webpack(app) {
    writeFileSync(join(app, 'webpack.config.mjs'), recipe('webpack', 'js'))
    tool(app, 'webpack', '--config', 'webpack.config.mjs', '--mode', 'production', '--output-path', join(app, 'out'), '--fail-on-warnings')
    runAlone('app.mjs', (alone) => {
      cpSync(join(app, 'out'), alone, { recursive: true })
      copyBeside(app, alone)
    })
  },
  vite(app) {
    tool(app, 'vite', 'build', '--ssr', 'app.mjs', '--outDir', 'out')
    const [file] = readdirSync(join(app, 'out'))
    assert.equal(run(app, process.execPath, join('out', file), model), WANTED)
  },
  // as outputFileTracingIncludes of Next.js adds files
  async nft(app) {
    const { nodeFileTrace } = createRequire(join(here, 'run.mjs'))('@vercel/nft')
    const modules = join(app, 'node_modules')
    const included = ['ptlite/dist', platformPackage].flatMap((folder) =>
      readdirSync(join(modules, folder), { withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
        .map(({ name }) => join('node_modules', folder, name)),
    )
    const { fileList } = await nodeFileTrace([join(app, 'app.mjs')], { base: app })
    runAlone('app.mjs', (alone) => {
      for (const file of new Set([...fileList, ...included])) cpSync(join(app, file), join(alone, file))
    })
  },
  vitest(app) {
    writeFileSync(join(app, 'model.test.mjs'), `import { expect, test } from 'vitest'\n${TEST}`)
    cpSync(join(here, 'node_modules/vitest'), join(app, 'node_modules/vitest'), { recursive: true })
    tool(app, 'vitest', 'run')
  },
  jest(app) {
    writeFileSync(join(app, 'model.test.js'), TEST.replace("await import('ptlite')", "require('ptlite')"))
    tool(app, 'jest', '--rootDir', app)
  },
  sea(app) {
    writeFileSync(join(app, 'entry.cjs'), recipe('A single executable', 'js'))
    writeFileSync(join(app, 'sea.json'), JSON.stringify({ main: 'entry.cjs', output: 'app.blob', disableExperimentalSEAWarning: true }))
    run(
      app,
      join(root, 'node_modules/.bin/esbuild'),
      'app.mjs',
      '--bundle',
      '--platform=node',
      '--format=cjs',
      '--outfile=out/app.cjs',
      '--log-level=error',
    )
    run(app, process.execPath, '--experimental-sea-config', 'sea.json')
    const program = join(app, 'out/app')
    copyFileSync(process.execPath, program)
    const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
    tool(app, 'postject', program, 'NODE_SEA_BLOB', 'app.blob', '--sentinel-fuse', fuse)
    copyBeside(app, join(app, 'out'))
    assert.equal(run(join(app, 'out'), program, model), WANTED)
  },
}

const chosen = process.argv.slice(2)
for (const name of chosen) assert.ok(Object.hasOwn(HOSTS, name), `no host '${name}'; there are ${Object.keys(HOSTS).join(', ')}`)
for (const name of chosen.length > 0 ? chosen : Object.keys(HOSTS)) {
  const app = mkdtempSync(join(tmpdir(), 'ptlite-host-'))
  try {
    writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true }\n')
    copyFileSync(join(root, 'test/deploy/app.mjs'), join(app, 'app.mjs'))
    install(app)
    await HOSTS[name](app)
    console.log(`${name}: ok`)
  } catch (error) {
    process.exitCode = 1
    console.log(`${name}: ${error.message.slice(0, 2000)}`)
  } finally {
    rmSync(app, { recursive: true, force: true })
  }
}
