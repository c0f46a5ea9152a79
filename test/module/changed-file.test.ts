import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, copyFileSync, readFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openSource } from '../../formats/containers/bytes.js'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, type LoadOptions, PtliteError, tensor, type Tensor } from '../../src/index.js'
import { errorOf, fixturePath } from './fixtures.js'

/** A copy of a fixture, and what it was compiled to. */
function copies(t: Test) {
  const folder = t.testdir({})
  const model = join(folder, 'compile.ptl')
  copyFileSync(fixturePath('compile.ptl'), model)
  const plans = join(folder, 'compile.ptlc')
  writeFileSync(
    plans,
    compileAhead(model, () => [{ method: 'forward', args: [tensor([[1, 2, 3, 4]])] }]),
  )
  return { folder, model, plans }
}

const x = tensor([[1, 2, 3, 4]])
const CHANGES: readonly (readonly [string, (path: string) => void])[] = [
  ['cut off', (path) => truncateSync(path, 100)],
  ['written to', (path) => writeFileSync(path, readFileSync(path).fill(1, 500, 600))],
  ['made longer', (path) => appendFileSync(path, 'more')],
]

for (const [title, change] of CHANGES) {
  t.test(`a file that was ${title} after it was loaded is an error at the next call`, async (t) => {
    const { model, plans } = copies(t)
    for (const path of [model, plans]) {
      const module = await loadModule(path)
      module.forward(x)
      change(path)
      // it is looked at once in a second
      await setTimeout(1100)
      t.match(
        errorOf(() => module.forward(x)),
        { code: 'INVALID_FILE', message: /was changed while it was in use \(\d+ bytes then, \d+ now\); load it again/ },
      )
      await t.rejects(module.run('forward', [x]), { code: 'INVALID_FILE' })
      module.dispose()
    }
  })
}

t.test('a file that was replaced or removed serves those who have it', async (t) => {
  const { folder, model, plans } = copies(t)
  const modules = await Promise.all([model, plans].map((path) => loadModule(path)))
  const expected = (modules[0]!.forward(x) as Tensor).toArray()
  for (const path of [model, plans]) {
    writeFileSync(join(folder, 'other'), 'no model')
    renameSync(join(folder, 'other'), path)
  }
  await setTimeout(1100)
  for (const module of modules) t.strictSame((module.forward(x) as Tensor).toArray(), expected)
  for (const path of [model, plans]) rmSync(path)
  await setTimeout(1100)
  for (const module of modules) t.strictSame((module.forward(x) as Tensor).toArray(), expected)
})

t.test('a file that changes while it is read is refused', async (t) => {
  const { model } = copies(t)
  const source = openSource(model)
  const { atime } = { atime: new Date() }
  utimesSync(model, atime, new Date(1e12))
  t.match(
    errorOf(() => source.checkUnchanged()),
    { code: 'INVALID_FILE' },
  )
  source.close()
  source.checkUnchanged()
  const changing = (): { method: string; args: Tensor[] }[] => {
    utimesSync(model, atime, new Date(1.1e12))
    return [{ method: 'forward', args: [x] }]
  }
  t.match(
    errorOf(() => compileAhead(model, changing)),
    { code: 'INVALID_FILE', message: /was changed while it was compiled; compile it again/ },
  )
})

t.test('with map: false a file is read, and may change', async (t) => {
  const { model, plans } = copies(t)
  for (const [path, cut] of [
    [model, 100],
    [plans, 0],
  ] as const) {
    const [mapped, read] = [await loadModule(path), await loadModule(path, { map: false })]
    const expected = (mapped.forward(x) as Tensor).toArray()
    mapped.dispose()
    truncateSync(path, cut)
    await setTimeout(1100)
    t.strictSame((read.forward(x) as Tensor).toArray(), expected)
    await read.compile('forward', [x])
    t.strictSame((read.forward(x) as Tensor).toArray(), expected)
    t.strictSame(((await read.run('forward', [x])) as Tensor).toArray(), expected)
    read.dispose()
  }
  for (const map of [0, 'no', null] as unknown[])
    await t.rejects(loadModule(model, { map } as LoadOptions), { code: 'INVALID_ARGUMENT', message: /expected map to be true or false/ })
})

t.test('what is no regular file, or may not be read, is refused and not waited for', async (t) => {
  const { folder, model } = copies(t)
  spawnSync('mkfifo', [join(folder, 'pipe')])
  const none = [join(folder, 'none'), '']
  for (const path of [join(folder, 'pipe'), folder, '/dev/zero', 'a\0b', ...none]) {
    const error: unknown = await loadModule(path).catch((error: unknown) => error)
    const code = none.includes(path) ? 'NOT_FOUND' : 'INVALID_FILE'
    t.ok(error instanceof PtliteError && error.code === code, `${JSON.stringify(path)}: ${String(error)}`)
  }
  // root may read everything
  if (process.getuid!() === 0) return
  chmodSync(model, 0)
  await t.rejects(loadModule(model), { code: 'INVALID_FILE', message: /EACCES/ })
})
