import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, type Module, Profiler, type Tensor, tensor } from '../../src/index.js'
import { ptlite } from '../cli/in-process.js'
import { fixturePath } from '../module/fixtures.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-winograd-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})
t.afterEach(() => {
  delete process.env.PTLITE_WINOGRAD
})

const model = fixturePath('models/resnet18.ptl')
const image = tensor(
  Float32Array.from({ length: 3 * 64 * 64 }, (_, i) => Math.sin(i)),
  [1, 3, 64, 64],
)

/** The kernels of a call, and its result. */
function called(module: Module): { kernels: string[]; result: number[] } {
  const profiler = new Profiler({ kernels: true })
  const result = Array.from((module.call('forward', [image], { profiler }) as Tensor).data(), Number)
  module.dispose()
  return { kernels: profiler.events.map((e) => e.name), result }
}

const uses = ({ kernels }: { kernels: string[] }): boolean => kernels.includes('winograd_conv')

t.test('on by default, off by option and by environment; within the tolerance', async (t) => {
  const on = called(await loadModule(model))
  const off = called(await loadModule(model, { winograd: false }))
  t.ok(uses(on))
  t.notOk(uses(off))
  const largest = Math.max(...off.result.map(Math.abs))
  t.ok(on.result.every((x, i) => Math.abs(x - off.result[i]!) <= 2e-5 * largest))
  process.env.PTLITE_WINOGRAD = '0'
  t.strictSame(called(await loadModule(model)), off)
  t.strictSame(called(await loadModule(model, { winograd: true })), on, 'the option comes first')
  process.env.PTLITE_WINOGRAD = '1'
  t.strictSame(called(await loadModule(model)), on)
  process.env.PTLITE_WINOGRAD = 'maybe'
  await t.rejects(loadModule(model), { code: 'INVALID_ARGUMENT', message: /PTLITE_WINOGRAD: expected 0 or 1, found "maybe"/ })
})

t.test('files that were compiled ahead', async (t) => {
  const call = () => [{ method: 'forward', args: [image] }]
  const expected = called(await loadModule(model, { winograd: false }))
  const without = compileAhead(model, call, { winograd: false })
  t.strictSame(called(await loadModule(without, { winograd: false })), expected)
  const [alone, beside] = [mkdtempSync(join(work, 'alone-')), mkdtempSync(join(work, 'beside-'))].map((folder) => join(folder, 'a.ptlc'))
  for (const path of [alone!, beside!]) writeFileSync(path, compileAhead(model, call))
  copyFileSync(model, join(beside!, '..', 'resnet18.ptl'))
  t.ok(uses(called(await loadModule(alone!))))
  await t.rejects(loadModule(alone!, { winograd: false }), {
    code: 'UNSUPPORTED_FILE',
    message: /use Winograd's algorithm, which is turned off; compile/,
  })
  t.strictSame(called(await loadModule(beside!, { winograd: false })), expected, 'compiled again')
})

t.test('at the command line', async (t) => {
  const input = join(work, 'x.json')
  writeFileSync(input, JSON.stringify({ dtype: 'float32', shape: image.shape, data: [...image.data()].map(Number) }))
  const kernels = async (...args: string[]): Promise<string[]> => {
    const path = join(work, 'trace.json')
    const { status, stderr } = await ptlite('run', ...args, '--profile', path, '--kernels')
    t.equal(status, 0, stderr)
    return (JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: { name: string }[] }).traceEvents.map((e) => e.name)
  }
  t.ok((await kernels(model, '--input', input)).includes('winograd_conv'))
  t.notOk((await kernels(model, '--input', input, '--no-winograd')).includes('winograd_conv'))
  t.match((await ptlite('inspect', model, '--plan', '--input', input)).stdout, /  # winograd: /)
  t.notMatch((await ptlite('inspect', model, '--plan', '--no-winograd', '--input', input)).stdout, /  # winograd: /)
  const output = join(work, 'without.ptlc')
  t.equal((await ptlite('compile', model, '--input', input, '-o', output, '--no-winograd')).status, 0)
  t.notOk((await kernels(output, '--input', input)).includes('winograd_conv'))
  t.match(await ptlite('trace', model, '--no-winograd'), { status: 2, stderr: /unknown option --no-winograd/ })
})
