/**
 * `npm test [-- FILE ...]`: bundles the tests (all, or the files named) and what they start in processes of their own, then runs them with tap.
 * Each process loads one bundle and the chunks it shares with others: compiling some hundred modules one by one takes longer than most tests.
 * `npx tap FILE` runs a file from its source.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle, root } from './bundle.mjs'

const bundles = join(root, 'build/bundles')

/** Started by tests through test/support/node.ts. */
const PROGRAMS = ['src/index.ts', 'src/cli/main.ts', 'src/cli/selective-build-main.ts']
/** Folders whose files take longest come first, so that no long one is left over at the end. */
const FIRST = ['test/selective-build/', 'test/native/', 'test/cli/', 'test/compiler/', 'test/codegen/']

const sources = ['test', 'serve/test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(folder, name)),
)
const rank = (name) => FIRST.findIndex((folder) => name.startsWith(folder)) >>> 0
const named = process.argv.slice(2).map((name) => resolve(name).slice(root.length))
const unknown = named.filter((name) => !sources.includes(name))
if (unknown.length > 0) {
  console.error(`no test file ${unknown.join(', ')}`)
  process.exit(2)
}
const tests =
  named.length > 0 ? named : sources.filter((name) => name.endsWith('.test.ts')).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))

await bundle([...sources, ...PROGRAMS], bundles)

const bundleOf = (name) => join('build/bundles', name.replace(/\.ts$/, '.js'))
const { status } = spawnSync(join(root, 'node_modules/.bin/tap'), ['--node-arg=--enable-source-maps', ...tests.map(bundleOf)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PTLITE_TEST_BUNDLES: bundles },
})
process.exit(status ?? 1)
