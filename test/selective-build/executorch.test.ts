import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { READER_PARTS } from '../../program/reader-parts.js'
import { traceOfModel } from '../../selective-build/selection/from-model.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { cpu, loadModule, type Tensor, tensor } from '../../src/index.js'
import type * as selectedTypes from '../../src/selected.js'
import { fixturePath, readCalls } from '../pte/fixtures.js'
import { nodeArguments } from '../support/node.js'

/** A build for traces of ExecuTorch programs holds what of the reader these take, and says so where a file takes more. */

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = t.testdir({})
const isa = cpu.highestCpuLevel().startsWith('AVX') || cpu.highestCpuLevel() === 'AMX' ? 'avx2' : 'default'

interface Stored {
  readonly tensor: number[]
  readonly shape: number[]
}

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...nodeArguments(join(root, script)), ...args], { encoding: 'utf8', cwd: root })
}

function partsOf(trace: string): string[] {
  const { features } = readTrace(trace, new Set(kernelFields.map((row) => row.split(' ', 1)[0]!)))
  return READER_PARTS.filter((part) => features.has(part))
}

async function buildOf(trace: string, t: Test): Promise<{ readonly ptlite: typeof selectedTypes; readonly gzipped: number }> {
  const out = trace.replace('.trace', '')
  const built = run('src/cli/selective-build-main.ts', '--trace', trace, '--out', out, '--isa', isa)
  t.equal(built.status, 0, built.stderr)
  t.match(built.stdout, /1 runs give the same bits as the whole runtime/)
  const ptlite = (await import(pathToFileURL(join(out, 'index.js')).href)) as typeof selectedTypes
  ptlite.setNativeLibrary(join(out, 'libptlite.so'))
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as { javascript: { gzipped: { after: number } } }
  return { ptlite, gzipped: report.javascript.gzipped.after }
}

/** A program that the bundled file is not, whose reader looks at no more than the first bytes. */
const bundled = Buffer.from('....BP08....').fill(0, 0, 4)

t.test('what models take is in their traces', (t) => {
  const partsIn = (name: string): string[] => READER_PARTS.filter((part) => traceOfModel(fixturePath(`${name}.pte`)).features.has(part))
  t.strictSame(partsIn('net'), [])
  t.strictSame(partsIn('net_xnnpack'), ['xnnpack'])
  t.strictSame(partsIn('sizes'), ['executorch-numbers'])
  t.strictSame(partsIn('language'), ['executorch-operators'])
  t.end()
})

t.test('of portable operators alone', async (t) => {
  const [model, trace] = [join(folder, 'add_relu.pte'), join(folder, 'portable.trace')]
  const source = join(root, 'test/selective-build/fixtures/add_relu.ptl')
  const converted = run('src/cli/main.ts', 'convert', source, '--shape', '3', '--shape', '3', '-o', model)
  t.equal(converted.status, 0, converted.stderr)
  const traced = run('src/cli/main.ts', 'trace', model, '--input', join(root, 'examples/embed/input.json'), '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  t.strictSame(partsOf(trace), [])
  const { ptlite, gzipped } = await buildOf(trace, t)
  t.ok(gzipped <= 57_500, `JavaScript: ${gzipped} bytes`)
  const module = await ptlite.loadModule(model)
  const x = ptlite.tensor([1, -2, 3])
  t.strictSame((module.forward(x, x) as InstanceType<typeof ptlite.Tensor>).toArray(), [2, 0, 6])

  const refuses = async (file: string | Uint8Array, what: RegExp): Promise<void> => {
    await t.rejects(ptlite.loadModule(file), { code: 'UNSUPPORTED_FILE', message: what })
    await t.rejects(ptlite.loadModule(file), { message: /is not in this build.*--trace more\.trace/s })
  }
  await refuses(fixturePath('net_xnnpack.pte'), /the reader of graphs for XNNPACK/)
  await refuses(fixturePath('sizes.pte'), /ExecuTorch's operators on numbers/)
  await refuses(fixturePath('language.pte'), /ExecuTorch's operators for quantized weights, language models and training/)
  await refuses(bundled, /programs that are bundled with test cases/)
  await refuses(source, /the reader of zip archives \(\.ptl, \.pt2, \.pt\)/)
  const withData = join(folder, 'beside.pte')
  copyFileSync(model, withData)
  writeFileSync(join(folder, 'beside.ptd'), 'any')
  await refuses(withData, /the reader of \.ptd files/)
})

t.test('with XNNPACK', async (t) => {
  const [trace, input] = [join(folder, 'xnnpack.trace'), join(folder, 'input.json')]
  const { tensor: data, shape } = readCalls('net_xnnpack').calls[0]!.args[0] as Stored
  writeFileSync(input, JSON.stringify({ args: [{ dtype: 'float32', shape, data }] }))
  const traced = run('src/cli/main.ts', 'trace', fixturePath('net_xnnpack.pte'), '--input', input, '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  t.strictSame(partsOf(trace), ['xnnpack'])
  const { ptlite } = await buildOf(trace, t)
  const selected = await ptlite.loadModule(fixturePath('net_xnnpack.pte'))
  const whole = await loadModule(fixturePath('net_xnnpack.pte'), { compile: 'off' })
  const found = selected.forward(ptlite.tensor(data, shape)) as InstanceType<typeof ptlite.Tensor>
  const wanted = whole.forward(tensor(data, shape)) as Tensor
  t.strictSame(found.shape, wanted.shape)
  if (isa.toUpperCase() === cpu.currentLevel()) t.strictSame(found.data(), wanted.data())
  await t.rejects(ptlite.loadModule(fixturePath('language.pte')), { code: 'UNSUPPORTED_FILE', message: /is not in this build/ })
})
