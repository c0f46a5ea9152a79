import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { inspectModel, loadModule } from '../../src/index.js'
import { ptlite } from './in-process.js'

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/training/${name}`, import.meta.url))
const { input, cases } = JSON.parse(readFileSync(fixture('cases.json'), 'utf8')) as {
  readonly input: number[][]
  readonly cases: Readonly<Record<string, { readonly eval: number[][] }>>
}
const expected = cases['norm']!.eval

function isClose(text: string): boolean {
  const found = (JSON.parse(text) as { readonly data: number[][] }).data.flat()
  return expected.flat().every((value, i) => Math.abs(value - found[i]!) < 1e-4)
}

void test('--eval takes a model out of training mode, which commands speak of otherwise', async (t) => {
  const folder = t.testdir({ 'x.json': JSON.stringify(input), 'norm.pt': readFileSync(fixture('norm.pt')) })
  const [x, model] = [join(folder, 'x.json'), join(folder, 'norm.pt')]
  const run = async (file: string, ...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await ptlite('run', file, '--input', x, '--json', ...args)
    t.equal(status, 0, stderr)
    return stdout
  }
  const warned = t.capture(console, 'warn')
  t.notOk(isClose(await run(model)))
  t.equal(warned().length, 1)
  t.ok(isClose(await run(model, '--eval')))
  t.equal(warned().length, 0)

  for (const extension of ['ptl', 'ff']) {
    const plain = join(folder, `plain.${extension}`)
    t.match(await ptlite('convert', model, '-o', plain), {
      status: 0,
      stderr: /warning: .*norm\.pt is in training mode.*convert it with --eval/,
    })
    t.notOk(isClose(await run(plain)))
    const out = join(folder, `out.${extension}`)
    t.match(await ptlite('convert', model, '-o', out, '--eval'), { status: 0, stderr: '' })
    t.ok(isClose(await run(out)))
    t.same((await inspectModel(out)).training, [])
  }

  const compiled = join(folder, 'norm.ptlc')
  t.match(await ptlite('compile', model, '--input', x, '-o', compiled, '--eval'), { status: 0 })
  t.ok(isClose(await run(compiled)))
  t.ok(isClose(await run(compiled, '--eval')))
  const module = await loadModule(readFileSync(compiled))
  t.equal(module.plans()[0]?.state, 'plan')
  module.dispose()
  t.match(await ptlite('bench', model, '--input', x, '--runs', '2', '--eval'), { status: 0 })
  warned()
  t.match(await ptlite('inspect', model, '--plan', '--input', x, '--eval'), { status: 0, stdout: /aten::relu/ })
  t.same(warned(), [])
  t.match(await ptlite('inspect', model, '--eval'), { status: 2, stderr: /--eval goes with --plan and --arena/ })
})

void test('inspect names what goes by the mode', async (t) => {
  const text = await ptlite('inspect', fixture('layers.pt'))
  t.match(
    text.stdout,
    /In training mode, which changes what is computed; load it with \{ eval: true \}, or --eval\n {2}alpha +AlphaDropout\n/,
  )
  t.match(JSON.parse((await ptlite('inspect', fixture('holder.ff'), '--json')).stdout), { training: [{ name: 'drop', type: 'Dropout' }] })
  t.notMatch((await ptlite('inspect', fixture('fixed.ptl'))).stdout, /training mode/)
  t.match((await ptlite('inspect', fixture('norm.pt'))).stdout, /\(the model itself\) +Norm\n {2}layers\.1 +BatchNorm1d/)
})

void test('a trace says that its runs are out of training mode', async (t) => {
  const folder = t.testdir({ 'x.json': JSON.stringify(input), 'norm.ptl': readFileSync(fixture('norm.ptl')) })
  const output = join(folder, 'norm.trace')
  t.match(await ptlite('trace', join(folder, 'norm.ptl'), '--input', join(folder, 'x.json'), '-o', output, '--eval'), { status: 0 })
  t.match(readTrace(output, new Set()).runs, [{ method: 'forward', eval: true }])
  writeFileSync(output, readFileSync(output, 'utf8').replaceAll(',\\"eval\\":true', ''))
  t.notOk('eval' in readTrace(output, new Set()).runs[0]!)
})
