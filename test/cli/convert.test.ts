import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadModule } from '../../src/index.js'
import { CHANGES, difference, fixturePath, formsOf, inputOf, PROGRAMS, readCalls } from '../pt2/fixtures.js'
import { ptlite } from './in-process.js'
import { programText } from './program-text.js'

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** A pattern that matches this text alone. */
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const EXTENSIONS = ['ptl', 'ff']

for (const name of PROGRAMS) {
  for (const form of formsOf(name)) {
    for (const extension of EXTENSIONS) {
      await t.test(`${name}.${form} as a .${extension} gives the same results and errors`, async (t) => {
        const output = join(t.testdir({}), `out.${extension}`)
        const { status, stdout, stderr } = await ptlite('convert', fixturePath(`${name}.${form}`), '-o', output)
        t.equal(status, 0, stderr)
        t.match(stdout, /out\.(ptl|ff): .* MB, \d+ functions/)
        const module = await loadModule(output, { verify: true })
        t.equal(readFileSync(output).toString('latin1', 4, 8) === 'PTMF', extension === 'ff')
        const { calls, refused } = readCalls(name)
        const order = CHANGES.has(name) ? calls : [...calls, ...calls]
        for (const [turn, { args, result }] of order.entries())
          t.equal(difference(module.forward(...args.map(inputOf)), result), undefined, `call ${turn}`)
        for (const { args, error } of refused) t.throws(() => module.forward(...args.map(inputOf)), { message: new RegExp(escaped(error)) })
        module.dispose()
      })
    }
  }
}

/** Fixtures with programs: values of all kinds, packed parameters, classes that fill themselves, old versions. */
const fixtures = readdirSync(fixture('.'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.(ptl|ff|pt)$/.test(name) && !['tensors.pt', 'legacy.pt'].includes(name) && !name.includes('sparse/weights'),
)
for (const name of fixtures) {
  await t.test(`${name} keeps functions, objects, values and what they share`, async (t) => {
    const isCounted = !/-v[45]\.ptl|old\//.test(name)
    const before = programText(fixture(name), isCounted)
    for (const extension of EXTENSIONS) {
      const output = join(t.testdir({}), `out.${extension}`)
      const { status, stderr } = await ptlite('convert', fixture(name), '-o', output)
      t.equal(status, 0, stderr)
      t.strictSame(programText(output, isCounted), before, extension)
      const module = await loadModule(output, { verify: true, strict: false })
      module.dispose()
    }
  })
}

await t.test('sparse weights are refused by name', async (t) => {
  for (const extension of EXTENSIONS) {
    const { status, stderr } = await ptlite('convert', fixture('sparse/weights.pt'), '-o', join(t.testdir({}), `out.${extension}`))
    t.equal(status, 1)
    t.match(stderr, /'coordinates': a sparse tensor has no form in the file to be written \(UNSUPPORTED_FILE\)/)
  }
})

await t.test('files of version 4 get the numbers of arguments', async (t) => {
  const output = join(t.testdir({}), 'out.ptl')
  await ptlite('convert', fixture('old/attention-v4.ptl'), '-o', output)
  t.ok(programText(output, true).includes('aten::einsum. 2'))
})

await t.test('storages of a flatbuffer are aligned', async (t) => {
  const output = join(t.testdir({}), 'out.ff')
  await ptlite('convert', fixture('linear.ptl'), '-o', output)
  const content = readFileSync(output)
  t.equal(content.toString('latin1', 4, 8), 'PTMF')
  const weight = await loadModule(fixture('linear.ptl'))
  for (const [name, tensor] of weight.parameters()) {
    const bytes = Buffer.from((tensor.data() as Float32Array).buffer)
    t.equal(content.indexOf(bytes) % 16, 0, name)
  }
  weight.dispose()
})

await t.test('what zip programs make of the archive', { skip: spawnSync('python3', ['--version']).status !== 0 }, async (t) => {
  const output = join(t.testdir({}), 'out.ptl')
  await ptlite('convert', fixturePath('linear.pt2'), '-o', output)
  const { status, stderr } = spawnSync('python3', ['-m', 'zipfile', '-t', output], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
})

await t.test('mistakes', async (t) => {
  t.match(await ptlite('convert', fixture('linear.ff'), '-o', 'x.pt2'), { status: 2, stderr: /ends in \.ptl, \.ff or \.pte, found x\.pt2/ })
  t.match(await ptlite('convert', fixture('linear.ptl')), { status: 2, stderr: /name the file to write/ })
  t.match(await ptlite('convert', '-o', 'x.ptl'), { status: 2, stderr: /name a model file/ })
  t.match(await ptlite('convert', fixture('tensors.pt'), '-o', 'x.ptl'), { status: 1, stderr: /torch\.save/ })
})
