/**
 * Runs the kernel library for another processor on this machine, by QEMU's emulation of single processes:
 *
 *   npm run emulate -- [--target NAME] [--cpu NAME]... [--models DIR] [--ops DIR] [--share PERCENT] [--seed N] [--cases FILE] [--brief] [--install]
 *
 * --target   a row of targets.json with an emulator, linux-arm64 without
 * --cpu      QEMU's name of a processor, with properties; without, those of the row: for linux-arm64 cortex-a53 (DEFAULT alone), cortex-a76, neoverse-n1
 *            (DOTPROD and FP16), and max (all levels) with vectors of SVE of 64, 16 and 256 bytes
 * --models, --ops   conformance cases, judged by --cases (../shared/check/run-cases.mjs); of the latter a share of the files, drawn by --seed
 * --brief    `ptlite cpu` everywhere, and kernels with code of their own at single levels on `max`: minutes, where everything takes an hour
 * --install  gets what is missing: Debian's packages as root, and Node from npm
 *
 * Exits with 77 where a tool is missing, after saying which. Says nothing of speed: an emulator has its own.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle, root } from '../bundle.mjs'
import { emulated as emulatedTarget, tools } from './tools.mjs'

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    cpu: { type: 'string', multiple: true },
    models: { type: 'string' },
    ops: { type: 'string' },
    share: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    cases: { type: 'string', default: join(root, '../shared/check/run-cases.mjs') },
    brief: { type: 'boolean', default: false },
    install: { type: 'boolean', default: false },
  },
})
const target = emulatedTarget(values.target)
const cpus = values.cpu ?? target.emulator.cpus

const { emulator, root: sysroot, node, missing } = tools(values.install, target)
if (missing.length > 0) {
  console.error(`emulate: nothing is run here; it needs: ${missing.join('; ')}`)
  process.exit(77)
}

const BUILD = join(root, 'build', target.name)
const LIBRARY = join(root, target.library)
const BUNDLES = join(root, 'build/emulation/bundles')
/** Levels whose vectors differ: test/native/vec is built once for each. */
const VECTOR_LEVELS = target.emulator.vectorLevels
/** Tests of kernels, which start processes of their own at each level. */
const TESTS = ['test/native/level-kernels.test.ts', 'test/native/levels.test.ts', 'test/native/jit-sparse.test.ts']
const testsOn = (cpu) => (!values.brief ? TESTS : cpu.startsWith('max') ? TESTS.slice(0, 1) : [])
const PROGRAMS = ['test/native/levels/child.ts', 'test/native/fixtures/level-kernels.ts', 'src/index.ts']

let failed = 0

/** Runs a command; prints its output where it fails, else the last line of it with `say`. */
function step(name, command, args, { env = {}, say = false } = {}) {
  const start = Date.now()
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ...env } })
  const seconds = Math.round((Date.now() - start) / 1000)
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`.trimEnd()
  if (result.status === 0) {
    console.log(`ok      ${name} (${seconds} s)${say ? `: ${output.split('\n').at(-1)}` : ''}`)
  } else {
    failed++
    console.log(output.split('\n').slice(-60).join('\n'))
    console.log(`FAILED  ${name} (${seconds} s)${result.error ? `: ${result.error.message}` : ''}`)
  }
}

/** The environment of what runs on an emulated processor. */
const emulated = (cpu) => ({
  PTLITE_NATIVE_LIBRARY: LIBRARY,
  PTLITE_EMULATOR: emulator,
  PTLITE_EMULATED_CPU: cpu,
  PTLITE_EMULATED_ROOT: sysroot,
  PTLITE_EMULATED_NODE: node,
  PTLITE_TEST_BUNDLES: BUNDLES,
  // an emulator takes its time
  TAP_TIMEOUT: '0',
})
const NODE = join(root, 'scripts/emulate/node.sh')
const PRELOAD = ['--require', join(root, 'scripts/emulate/preload.cjs')]

/** Numbers between 0 and 1 that follow from a seed (a linear congruential generator). */
function drawn(seed) {
  let state = BigInt(seed)
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)
    return Number(state >> 11n) / 2 ** 53
  }
}

/** A folder of links to a share of the files of operator cases. */
function sample(folder) {
  const draw = drawn(values.seed)
  const out = join(root, 'build/emulation/opcases')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
  for (const name of files) if (draw() * 100 < Number(values.share)) symlinkSync(resolve(folder, name), join(out, name))
  return out
}

step('build', 'scripts/build-native.sh', ['--target', target.name], { say: true })
if (!values.brief) {
  const targets = VECTOR_LEVELS.map((level) => `vec_test_${level}`)
  step('build of test/native/vec', 'cmake', ['--build', BUILD, '--parallel', '2', '--target', ...targets])
  for (const level of VECTOR_LEVELS) step(`vectors of ${level}`, emulator, ['-cpu', 'max', '-L', sysroot, join(BUILD, `vec_test_${level}`)])
}

await bundle([...TESTS, ...PROGRAMS], BUNDLES)
for (const cpu of cpus) {
  const env = emulated(cpu)
  step(`${cpu}: ptlite cpu`, NODE, ['dist/cli.js', 'cpu'], { env })
  for (const test of testsOn(cpu)) step(`${cpu}: ${test}`, NODE, [...PRELOAD, join(BUNDLES, test.replace(/\.ts$/, '.js'))], { env })
  for (const [flag, folder] of [
    ['--models', values.models],
    ['--ops', values.ops && sample(values.ops)],
  ]) {
    if (folder === undefined) continue
    // the judge is started here, and starts what it judges through the emulator
    const args = [...PRELOAD, resolve(values.cases), '--lib', join(root, 'dist/index.js'), flag, folder, '--min', '100']
    step(
      `${cpu}: conformance of ${flag === '--ops' ? `operators, ${values.share} % of the files by seed ${values.seed}` : 'models'}`,
      process.execPath,
      args,
      { env, say: true },
    )
  }
}
console.log(failed === 0 ? 'all passed' : `${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
