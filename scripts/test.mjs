/**
 * `npm test [-- FILE ...]`: bundles the tests (all, or the files named) and what they start in processes of their own, then runs them (scripts/test-programs.mjs), with tap to report.
 * The files of a folder share a process, each a subtest of its own (test/support/tap-of-file.ts): to start Node, tap and the library takes
 * longer than most of them. Those that need a process of their own are named in test/alone.json, with the reason.
 * `npx tap FILE` runs a file from its source.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { bundle, root } from './bundle.mjs'

const bundles = join(root, 'build/bundles')

/** Started by tests through test/support/node.ts. */
const PROGRAMS = ['src/index.ts', 'src/cli/main.ts', 'src/cli/selective-build-main.ts']
/** Processes that take longest come first, so that no long one is left over at the end. */
const FIRST = [
  'test/selective-build',
  'serve/test',
  'test/native',
  'test/hostile',
  'test/compiler',
  'test/backends',
  'test/module',
  'test/modes',
]

const alone = JSON.parse(readFileSync(join(root, 'test/alone.json'), 'utf8'))
const sources = ['test', 'serve/test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(folder, name)),
)
const named = process.argv.slice(2).map((name) => resolve(name).slice(root.length))
const unknown = [...named, ...Object.keys(alone)].filter((name) => !sources.includes(name))
if (unknown.length > 0) {
  console.error(`no test file ${unknown.join(', ')}`)
  process.exit(2)
}
const files = named.length > 0 ? named : sources.filter((name) => name.endsWith('.test.ts')).sort()

/** The files of each process, by the folder that they share, or by the file that is alone. */
const rooms = new Map()
for (const name of files) {
  const room = name in alone ? name : /^(serve\/)?test(\/\w[\w-]*(?=\/))?/.exec(name)[0]
  rooms.set(room, [...(rooms.get(room) ?? []), name])
}

await bundle([...sources, ...PROGRAMS], bundles)

const bundleOf = (name) => join(bundles, name.replace(/\.ts$/, '.js'))
function programOf([room, files]) {
  if (room in alone) return bundleOf(room)
  const path = join(bundles, 'rooms', `${room.replaceAll('/', '-')}.js`)
  mkdirSync(dirname(path), { recursive: true })
  const loads = files.map((name) => `  ${JSON.stringify(name)}: () => import(${JSON.stringify(bundleOf(name))}),\n`)
  writeFileSync(
    path,
    `import { runFiles } from ${JSON.stringify(bundleOf('test/support/tap-of-file.ts'))}\nawait runFiles({\n${loads.join('')}})\n`,
  )
  return path
}
const rank = ([room]) => FIRST.findIndex((folder) => room.startsWith(folder)) >>> 0
const programs = [...rooms].sort((a, b) => rank(a) - rank(b)).map(programOf)

const tests = spawn(process.execPath, [join(root, 'scripts/test-programs.mjs'), ...programs], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, PTLITE_TEST_BUNDLES: bundles },
})
const tap = spawn(join(root, 'node_modules/.bin/tap'), ['--timeout=0', '-'], { cwd: root, stdio: ['pipe', 'inherit', 'inherit'] })
tests.stdout.pipe(tap.stdin)
const [[status]] = await Promise.all([once(tap, 'exit'), once(tests, 'exit')])
process.exit(status ?? 1)
