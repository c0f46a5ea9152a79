import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { cpu, loadModule, tensor, type Tensor } from '../../src/index.js'
import type * as selectedTypes from '../../src/selected.js'
import { fixturePath } from '../module/fixtures.js'
import { nodeArguments } from '../support/node.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = t.testdir({})
const [trace, out, input] = ['linear.trace', 'selected', 'input.json'].map((name) => join(folder, name)) as [string, string, string]
const model = fixturePath('linear.ptl')
const isa = cpu.levelsInUse().includes('AVX2') ? 'AVX2' : 'DEFAULT'
writeFileSync(input, '[[1, -2, 3]]')

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...nodeArguments(join(root, script)), ...args], { encoding: 'utf8', cwd: root })
}

t.test('a build with the compiler makes the plans that were traced', async (t) => {
  const traced = run('src/cli/main.ts', 'trace', model, '--input', input, '--plans', '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  t.match(readFileSync(trace, 'utf8'), /plans/)
  const args = ['--trace', trace, '--with-compiler', '--isa', isa, '--out', out]
  const built = run('src/cli/selective-build-main.ts', ...args)
  t.equal(built.status, 0, built.stderr)
  t.match(built.stdout, new RegExp(`level ${isa}: 1 runs give the same bits as the whole runtime, as plans`))
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as {
    files: Record<string, number>
    javascript: { gzipped: { after: number } }
  }
  t.ok(Object.keys(report.files).some((file) => file.startsWith('compiler/')))
  t.notOk(Object.keys(report.files).some((file) => file === 'engine/background/thread.ts'))
  t.ok(report.javascript.gzipped.after < 154_000, `JavaScript: ${report.javascript.gzipped.after} bytes gzipped`)

  const ptlite = (await import(pathToFileURL(join(out, 'index.js')).href)) as typeof selectedTypes
  ptlite.setNativeLibrary(join(out, 'libptlite.so'))
  const [module, whole] = [await ptlite.loadModule(model), await loadModule(model, { compile: 'off' })]
  const x = [4, 5, -6]
  const expected = (whole.forward(tensor(x, [1, 3])) as Tensor).toArray()
  for (let i = 0; i < 3; i++) {
    t.strictSame((module.forward(ptlite.tensor(x, [1, 3])) as InstanceType<typeof ptlite.Tensor>).toArray(), expected)
  }
  t.match(module.plans(), [{ method: 'forward', signature: 'float32[1, 3]', state: 'plan', reason: null }])
  const aside = (await module.run('forward', [ptlite.tensor(x, [1, 3])])) as InstanceType<typeof ptlite.Tensor>
  t.strictSame(aside.toArray(), expected, 'on a native thread')
  const rows = ptlite.tensor([...x, ...x], [2, 3])
  const other = (await module.run('forward', [rows])) as InstanceType<typeof ptlite.Tensor>
  t.equal(other.shape[0], 2, 'without a plan: in the thread of the caller')
})

t.test('--plans and --isa go with other commands', (t) => {
  t.match(run('src/cli/main.ts', 'compile', model, '--input', input, '--plans'), { status: 2, stderr: /unknown option --plans/ })
  t.match(run('src/cli/main.ts', 'trace', model, '--input', input, '--isa', 'avx2'), { status: 2, stderr: /unknown option --isa/ })
  t.end()
})
