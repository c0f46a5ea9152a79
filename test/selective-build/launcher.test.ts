import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))
const launcher = join(root, 'dist/selective-build.js')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

t.test('the command finds what it goes on with', { skip: existsSync(launcher) ? false : 'not built' }, (t) => {
  const app = t.testdir({ 'package.json': '{}', clone: { dist: { 'build-selected.js': `console.log('clone', process.argv.length)` } } })
  const installed = join(app, 'node_modules/ptlite')
  mkdirSync(join(installed, 'dist'), { recursive: true })
  copyFileSync(launcher, join(installed, 'dist/selective-build.js'))
  writeFileSync(join(installed, 'package.json'), JSON.stringify({ name: 'ptlite', version, type: 'module' }))
  writeFileSync(join(app, 'clone/package.json'), '{ "type": "module" }')

  function run(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(installed, 'dist/selective-build.js'), ...args], {
      cwd: app,
      encoding: 'utf8',
    })
    return `${status} ${stdout}${stderr}`
  }
  const install = `'npm install --save-dev @ptlite/selective-build@${version}'`
  t.match(run('--help'), /^0 selective-build \(--trace FILE/)
  t.ok(run('--trace', 'a').startsWith('1 selective-build: selective builds compile the sources of ptlite'))
  t.ok(run('--trace', 'a').includes(install))
  t.match(run('--sources', 'none'), /^1 selective-build: none\/dist\/build-selected\.js is missing: run \.\/setup\.sh in none/)
  t.equal(run('--sources', 'clone'), '0 clone 4\n')

  const sources = join(app, 'node_modules/@ptlite/selective-build')
  mkdirSync(join(sources, 'dist'), { recursive: true })
  const manifest = (of: string): void => writeFileSync(join(sources, 'package.json'), JSON.stringify({ version: of, type: 'module' }))
  const program = (text: string): void => writeFileSync(join(sources, 'dist/build-selected.js'), text)
  manifest('0.0.1')
  t.match(run(), new RegExp(`^1 selective-build: @ptlite/selective-build has version 0\\.0\\.1, and ptlite ${version}: ${install}`))
  manifest(version)
  program(`import 'none-such'`)
  t.match(run(), /^1 selective-build: Cannot find package 'none-such'.* run 'npm install' again/)
  program(`console.log('package'); process.exitCode = 3`)
  t.equal(run(), '3 package\n')
  t.end()
})
