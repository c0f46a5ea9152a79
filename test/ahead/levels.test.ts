import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { read as readHeader } from '../../formats/ptlc/read.js'
import { openSource } from '../../formats/containers/bytes.js'
import { withLevels } from '../../runtime/native/level-limit.js'
import { levelsNamed } from '../../runtime/native/cpu-description.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { whyUnusable } from '../../src/cli/compiled-file.js'
import { cpu, loadModule } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'
import { nodeArguments } from '../support/node.js'
import { bits, MODELS, subjectOf } from './support.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-levels-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const lower = ['DEFAULT', 'AVX2', 'AVX512'].filter((level) => cpu.levelsInUse().includes(level) && level !== cpu.currentLevel())

/** Files compiled at a level, by a process that uses no other, and the bits that it got. */
function compiledAt(level: string): { readonly folder: string; readonly results: Record<string, unknown> } {
  const folder = mkdtempSync(join(work, 'files-'))
  const env = { ...process.env, ATEN_CPU_CAPABILITY: level }
  const { stdout, stderr } = spawnSync(process.execPath, [...nodeArguments(file('level-child.ts')), folder], { env, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  const made = JSON.parse(stdout) as { level: string; results: Record<string, unknown> }
  t.equal(made.level, level)
  return { folder, results: made.results }
}

for (const level of lower) {
  t.test(`files for ${level} run with its kernels where a higher one is in use`, async (t) => {
    const { folder, results } = compiledAt(level)
    for (const name of MODELS) {
      const { inputs } = subjectOf(name)
      const path = join(folder, `${name.replace('/', '-')}.ptlc`)
      const module = await loadModule(path)
      t.equal(module.plans()[0]!.level, level)
      t.strictSame(bits(module.forward(...inputs)), results[name], `${name}: the bits that the level gives`)
      t.strictSame(bits(await module.run('forward', inputs)), results[name], `${name}: on another thread, too`)
      t.equal(whyUnusable(path), null)
      const source = openSource(path)
      const { about } = readHeader(source)
      t.equal(about.level, level)
      t.ok(about.kernels.every((kernel) => about.levels.includes(kernel.level)))
      source.close()
      module.dispose()
    }
  })
}

t.test('a limit of levels ends with what it was for', (t) => {
  const length = (): number => kernels.vector_length({ dtype: 6 }).length
  const before = length()
  t.equal(withLevels(levelsNamed(['DEFAULT']), length), 4, 'float32 of an SSE register')
  t.throws(() =>
    withLevels(levelsNamed(['DEFAULT']), () => {
      throw new Error('over')
    }),
  )
  t.equal(length(), before)
  const highest = levelsNamed([cpu.currentLevel()])
  t.ok(
    withLevels(highest, () => kernels.mem_hash({ address: 0, bytes: 0 })),
    'what is compiled once serves at every level',
  )
  t.equal(length(), before)
  t.end()
})

t.test('ptlite compile --isa', (t) => {
  const model = join(work, 'linear.ptl')
  copyFileSync(fixturePath('linear.ptl'), model)
  const compile = (isa: string, env: NodeJS.ProcessEnv = {}) =>
    spawnSync(
      process.execPath,
      [...nodeArguments(file('../../src/cli/main.ts')), 'compile', model, '--input', file('../cli/fixtures/three.json'), '--isa', isa],
      { encoding: 'utf8', env: { ...process.env, ...env } },
    )
  for (const level of lower) {
    t.match(compile(level.toLowerCase()), { status: 0, stderr: '', stdout: new RegExp(`linear\\.ptlc: .*, level ${level}\\n  forward`) })
  }
  t.match(compile('sse9'), { status: 1, stderr: /--isa: no level 'sse9'; expected default, avx2, / })
  const absent = cpu.report().levels.find((level) => !level.inUse)
  if (absent !== undefined)
    t.match(compile(absent.name), { status: 1, stderr: /plans are made by running their kernels, but (the CPU|left out|the op)/ })
  if (cpu.currentLevel() !== 'DEFAULT') {
    t.match(compile(cpu.currentLevel(), { ATEN_CPU_CAPABILITY: 'default' }), { status: 1, stderr: /but ATEN_CPU_CAPABILITY=default/ })
  }
  t.end()
})
