import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadModule } from '../../src/index.js'
import { CHANGES, difference, fixturePath, inputOf, PROGRAMS, readCalls } from '../pt2/fixtures.js'
import { ptlite } from './in-process.js'

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** A pattern that matches this text alone. */
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

for (const name of PROGRAMS) {
  for (const form of ['pt2', 'core.pt2']) {
    await t.test(`${name}.${form} as a mobile module gives the same results and errors`, async (t) => {
      const output = join(t.testdir({}), 'out.ptl')
      const { status, stdout, stderr } = await ptlite('convert', fixturePath(`${name}.${form}`), '-o', output)
      t.equal(status, 0, stderr)
      t.match(stdout, /out\.ptl: .* MB, \d+ functions/)
      const module = await loadModule(output, { verify: true })
      const { calls, refused } = readCalls(name)
      const order = CHANGES.has(name) ? calls : [...calls, ...calls]
      for (const [turn, { args, result }] of order.entries())
        t.equal(difference(module.forward(...args.map(inputOf)), result), undefined, `call ${turn}`)
      for (const { args, error } of refused) t.throws(() => module.forward(...args.map(inputOf)), { message: new RegExp(escaped(error)) })
      module.dispose()
    })
  }
}

for (const name of ['torchscript.pt', 'torchscript/programs-1.13.pt', 'torchscript/programs-2.13.pt', 'linear.ptl']) {
  await t.test(`${name} keeps its methods, operators, parameters and state`, async (t) => {
    const output = join(t.testdir({}), 'out.ptl')
    const { status, stderr } = await ptlite('convert', fixture(name), '-o', output)
    t.equal(status, 0, stderr)
    const [before, after] = [await loadModule(fixture(name)), await loadModule(output, { verify: true })]
    t.strictSame(after.methods, before.methods)
    t.strictSame(after.operators, before.operators)
    t.equal(after.operatorVersion, before.operatorVersion)
    const tensors = (module: typeof before): unknown[] => [...module.parameters()].map(([key, x]) => [key, x.dtype, x.shape, x.toArray()])
    t.strictSame(tensors(after), tensors(before))
    before.dispose()
    after.dispose()
  })
}

await t.test('what zip programs make of the archive', { skip: spawnSync('python3', ['--version']).status !== 0 }, async (t) => {
  const output = join(t.testdir({}), 'out.ptl')
  await ptlite('convert', fixturePath('linear.pt2'), '-o', output)
  const { status, stderr } = spawnSync('python3', ['-m', 'zipfile', '-t', output], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
})

await t.test('mistakes', async (t) => {
  t.match(await ptlite('convert', fixture('linear.ff'), '-o', 'x.ptl'), { status: 1, stderr: /a \.ff file is a mobile module already/ })
  t.match(await ptlite('convert', fixture('linear.ptl')), { status: 2, stderr: /name the file to write/ })
  t.match(await ptlite('convert', '-o', 'x.ptl'), { status: 2, stderr: /name a model file/ })
  t.match(await ptlite('convert', fixture('tensors.pt'), '-o', 'x.ptl'), { status: 1, stderr: /torch\.save/ })
})
