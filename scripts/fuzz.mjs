/**
 * `npm run fuzz -- NAME [OPTIONS]`: bundles test/hostile/NAME/main.ts (fuzz.ts, or the harness for target.ts), or test/differential/main.ts for `programs`, and what it starts in processes of its own, and runs it with the options.
 * Blocks of the readers are marked, so that mutants that reach new ones can be told (`--guided`).
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { blockMarks } from './block-marks.mjs'
import { bundle, root } from './bundle.mjs'

const hostile = 'test/hostile'
const differential = 'test/differential'
const [name = '', ...options] = process.argv.slice(2)
/** The program of a folder, if there is one. */
const programOf = (folder) => {
  const files = ['main.ts', 'fuzz.ts'].map((file) => join(hostile, folder, file))
  return existsSync(join(root, hostile, folder, 'target.ts'))
    ? join(hostile, 'harness/main.ts')
    : files.find((file) => existsSync(join(root, file)))
}
const main = name === 'programs' ? join(differential, 'main.ts') : /^(?!harness$)[\w-]+$/.test(name) ? programOf(name) : undefined
if (main === undefined) {
  const names = readdirSync(join(root, hostile)).filter((folder) => folder !== 'harness' && programOf(folder) !== undefined)
  console.error(`usage: npm run fuzz -- NAME [OPTIONS], with one of these names: ${[...names, 'programs'].join(', ')}`)
  process.exit(2)
}

const READERS =
  /\/(formats|program|engine\/interpreter|compiler\/(frames|executor))\/|\/engine\/(load|open|original|plan-engine|fingerprint)|\/src\/load/
/** Programs that are started by themselves. */
const children = [hostile, differential].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter((path) => /child[\w-]*\.ts$/.test(path))
    .map((path) => join(folder, path)),
)

// one folder each, so that several can run at a time
const bundles = join(root, 'build/fuzz', `${name}-${process.pid}`)
await bundle([main, ...children], bundles, options.includes('--guided') ? blockMarks((path) => READERS.test(path)) : undefined)
const { status } = spawnSync(process.execPath, ['--enable-source-maps', join(bundles, main.replace(/\.ts$/, '.js')), ...options], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PTLITE_TEST_BUNDLES: bundles, PTLITE_FUZZ_TARGET: name },
})
process.exit(status ?? 1)
