// Installs the packed packages into an app and runs that in what docs/deploy.md names: other runtimes, bundlers, test runners, package managers. Needs a
// network for the tools (npm ci in this folder), and the packages of scripts/release/build.mjs.
//
//   npm run hosts -- [NAME...]     all without names
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../release/manifests.mjs'

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
    assert.equal(tool(app, 'bun', 'app.mjs', model), WANTED)
  },
  deno(app) {
    assert.equal(tool(app, 'deno', 'run', '-A', 'app.mjs', model), WANTED)
  },
  pnpm(app) {
    rmSync(join(app, 'node_modules'), { recursive: true })
    const dependencies = Object.fromEntries(
      archives.map((name) => [name.startsWith(own) ? platformPackage : 'ptlite', `file:${join(packed, name)}`]),
    )
    writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, dependencies }))
    tool(app, 'pnpm', 'install', '--offline', '--no-frozen-lockfile')
    assert.equal(run(app, process.execPath, 'app.mjs', model), WANTED)
  },
  webpack(app) {
    writeFileSync(
      join(app, 'webpack.config.mjs'),
      `export default {
        mode: 'production', target: 'node20', entry: './app.mjs',
        module: { parser: { javascript: { importMeta: false, createRequire: false } } },
        experiments: { outputModule: true },
        output: { path: import.meta.dirname + '/out', filename: 'app.mjs', module: true, chunkFormat: 'module' },
      }`,
    )
    tool(app, 'webpack', '--config', 'webpack.config.mjs', '--fail-on-warnings')
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
    writeFileSync(join(app, 'entry.cjs'), `require('node:module').createRequire(process.execPath)('./app.cjs')\n`)
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
