import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { levelsFor } from '../../selective-build/build/build.js'
import { compileAhead } from '../../src/ahead.js'
import { readCompiled } from '../../src/cli/compiled-file.js'
import { traceOfCompiled } from '../../src/cli/compiled-trace.js'
import { cpu, loadModule, type Tensor, tensor } from '../../src/index.js'
import type * as selectedTypes from '../../src/selected.js'
import { fixturePath } from '../module/fixtures.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = t.testdir({})
const [model, out] = [join(folder, 'linear.ptlc'), join(folder, 'selected')]
const x = tensor([1, -2, 3], [1, 3])
writeFileSync(
  model,
  compileAhead(fixturePath('linear.ptl'), () => [{ method: 'forward', args: [x] }]),
)

t.test('what a file uses is in its frames', async (t) => {
  const trace = await traceOfCompiled(model, readCompiled(model)!)
  t.equal(trace.operators.size, 0)
  t.ok(trace.kernels!.has('linear') && trace.kernels!.has('plan_run'))
  t.notOk(trace.kernels!.has('conv'))
  t.strictSame([...trace.kernels!.get('linear')!.dtypes], ['Float'])
  t.ok(trace.features.has('loader:ptlc') && trace.features.has(`level:${cpu.currentLevel()}`))
  t.match(trace.runs, [{ model, method: 'forward', files: null }])
  const ladder = cpu.report().levels.map((level) => level.name)
  t.ok(levelsFor(trace, [], ladder).includes(cpu.currentLevel()))
  const other = ladder.find((level) => !trace.features.has(`level:${level}`))!
  t.throws(() => levelsFor(trace, [other], ladder), { code: 'INVALID_ARGUMENT', message: /--isa: a \.ptlc file was compiled for/ })
})

t.test('a build for it has neither interpreter nor operators', async (t) => {
  const args = ['--import=tsx', join(root, 'src/cli/selective-build-main.ts'), '--model', model, '--out', out]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: root })
  t.equal(status, 0, stderr)
  t.match(stdout, new RegExp(`level ${cpu.currentLevel()}: 1 runs give the same bits as the whole runtime`))
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as {
    files: Record<string, number>
    javascript: { after: number }
  }
  t.notOk(Object.keys(report.files).some((file) => /interpreter\/execute|module\/ptl|operators\/generated\/table/.test(file)))
  t.ok(report.javascript.after < 130_000, `${report.javascript.after} bytes of JavaScript`)

  const ptlite = (await import(pathToFileURL(join(out, 'index.js')).href)) as typeof selectedTypes
  ptlite.setNativeLibrary(join(out, 'libptlite.so'))
  const [compiled, whole] = [await ptlite.loadModule(model), await loadModule(model)]
  const found = compiled.forward(ptlite.tensor([4, 5, -6], [1, 3])) as InstanceType<typeof ptlite.Tensor>
  t.strictSame(found.toArray(), (whole.forward(tensor([4, 5, -6], [1, 3])) as Tensor).toArray())
  t.throws(() => compiled.forward(ptlite.tensor([1, 2, 3, 4, 5, 6], [2, 3])), { code: 'INVALID_ARGUMENT', message: /compiled for forward/ })
  await t.rejects(ptlite.loadModule(fixturePath('linear.ptl')), {
    code: 'UNSUPPORTED_FILE',
    message: /the reader of zip archives .* is not in this build/,
  })
})
