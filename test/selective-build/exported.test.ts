import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { cpu, loadModule, type Tensor, tensor } from '../../src/index.js'
import type * as selectedTypes from '../../src/selected.js'
import { fixturePath, readCalls } from '../pt2/fixtures.js'
import { nodeArguments } from '../support/node.js'

/** A runtime that is built for the trace of an exported program gives the same bits as the whole one. */

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = t.testdir({})
const [input, trace, out] = ['input.json', 'model.trace', 'selected'].map((name) => join(folder, name)) as [string, string, string]
const model = fixturePath('linear.pt2')
const isa = cpu.highestCpuLevel().startsWith('AVX') || cpu.highestCpuLevel() === 'AMX' ? 'avx2' : 'default'

interface Image {
  readonly tensor: number[]
  readonly shape: number[]
}

const images = readCalls('linear').calls.map(({ args }) => args[0] as Image)

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...nodeArguments(join(root, script)), ...args], { encoding: 'utf8', cwd: root })
}

/** A flat list as nested ones. */
function nested(numbers: readonly number[], [size, ...rest]: readonly number[]): unknown {
  if (size === undefined) return numbers[0]
  const step = numbers.length / size
  return Array.from({ length: size }, (_, i) => nested(numbers.slice(i * step, (i + 1) * step), rest))
}

t.test('a trace, a build, and results', async (t) => {
  const [first] = images
  writeFileSync(input, JSON.stringify(nested(first!.tensor, first!.shape)))
  const traced = run('src/cli/main.ts', 'trace', model, '--input', input, '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  const { operators, features } = readTrace(trace, new Set(kernelFields.map((row) => row.split(' ', 1)[0]!)))
  t.ok(features.has('loader:pt2'))
  t.equal(operators.get('aten::linear')?.isCalled, true)
  const built = run('src/cli/selective-build-main.ts', '--trace', trace, '--out', out, '--isa', isa, '--cache', join(folder, 'cache'))
  t.equal(built.status, 0, built.stderr)
  t.match(built.stdout, /1 runs give the same bits as the whole runtime/)
  const ptlite = (await import(pathToFileURL(join(out, 'index.js')).href)) as typeof selectedTypes
  ptlite.setNativeLibrary(join(out, 'libptlite.so'))
  const selected = await ptlite.loadModule(model)
  const whole = await loadModule(model, { compile: 'off' })
  if (isa.toUpperCase() === cpu.currentLevel()) {
    for (const { tensor: data, shape } of images) {
      const found = selected.forward(ptlite.tensor(data, shape)) as InstanceType<typeof ptlite.Tensor>
      t.strictSame(found.data(), (whole.forward(tensor(data, shape)) as Tensor).data(), `rows: ${shape[0]}`)
    }
  }
  const found = selected.forward(ptlite.tensor(first!.tensor, first!.shape)) as InstanceType<typeof ptlite.Tensor>
  t.strictSame(found.shape, [first!.shape[0], 2])
  await t.rejects(ptlite.loadModule(fixturePath('lists.pt2')), { code: 'MISSING_OPERATOR' })
  whole.dispose()
})
