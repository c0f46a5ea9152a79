import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { AheadModule } from '../../formats/ptlc/module.js'
import { writeAhead } from '../../formats/ptlc/write.js'
import { aboutModule, compileAhead, planAhead, type PlannedCall } from '../../src/ahead.js'
import { cpu, int, loadModule, type Output, Profiler, tensor, type Tensor } from '../../src/index.js'
import { repairChecksums } from '../../src/cli/zip-checksums.js'
import { openProgramEngine } from '../../engine/open-program.js'
import { VERSION } from '../../runtime/version.js'
import { fixturePath } from '../module/fixtures.js'
import { sealed } from './support.js'
import { runnable } from '../support/node.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-ahead-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

const model = fixturePath('compile.ptl')
const matrix = (...data: number[]): Tensor => tensor(data, [data.length / 4, 4])
const numbers = (output: Output): number[] => Array.from((output as Tensor).data(), Number)
const calls: PlannedCall[] = [
  { method: 'forward', args: [matrix(1, 2, 3, 4)] },
  { method: 'forward', args: [matrix(1, 2, 3, 4, 5, 6, 7, 8)] },
  { method: 'scaled', args: [matrix(1, 2, 3, 4), int(3)] },
]

/** A folder with model.ptlc, and the model that it was compiled from beside it where `beside`. */
function folder(bytes: Uint8Array, beside: boolean): string {
  const path = mkdtempSync(join(work, 'case-'))
  writeFileSync(join(path, 'model.ptlc'), bytes)
  if (beside) copyFileSync(model, join(path, 'compile.ptl'))
  return join(path, 'model.ptlc')
}

function written(changes: Partial<AheadModule>): Uint8Array {
  const module = openProgramEngine(model)
  const bytes = writeAhead({ ...aboutModule(model, module), ...planAhead(module, calls), ...changes })
  module.dispose()
  return bytes
}

t.test('the version is that of the package', (t) => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  t.equal(VERSION, manifest.version)
  t.end()
})

t.test('several methods and forms of arguments', async (t) => {
  const module = await loadModule(
    folder(
      compileAhead(model, () => calls),
      false,
    ),
  )
  const original = await loadModule(model, { compile: 'off' })
  t.strictSame(
    module.plans().map((p) => [p.method, p.signature, p.state]),
    [
      ['forward', 'float32[1, 4]', 'plan'],
      ['forward', 'float32[2, 4]', 'plan'],
      ['scaled', 'float32[1, 4], 3', 'plan'],
    ],
  )
  for (const { method, args } of calls) t.strictSame(numbers(module.call(method, args)), numbers(original.call(method, args)))
  // a plain number becomes what the method takes
  t.strictSame(numbers(module.call('scaled', [matrix(4, 3, 2, 1), 3])), numbers(original.call('scaled', [matrix(4, 3, 2, 1), 3])))
  t.strictSame(module.methods, ['forward', 'scaled'])
  t.strictSame([module.operators, module.bytecodeVersion], [original.operators, original.bytecodeVersion])
  await module.compile('forward', calls[0]!.args)
  const profiler = new Profiler()
  module.call('forward', [matrix(1, 2, 3, 4)], { profiler })
  t.equal(profiler.events.length, module.plans()[0]!.frames)
  t.ok(profiler.events.every((e) => e.duration >= 0 && e.work!.bytes > 0))
  module.dispose()
  module.dispose()
})

t.test('calls that the file has no plan for', async (t) => {
  const bytes = compileAhead(model, () => calls)
  const alone = await loadModule(folder(bytes, false))
  const three = matrix(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
  t.throws(() => alone.forward(three), {
    code: 'INVALID_ARGUMENT',
    message: /compiled for forward\(float32\[1, 4\]\).*not for forward\(float32\[3, 4\]\)/,
  })
  t.throws(() => alone.call('scaled', [matrix(1, 2, 3, 4), 4]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => alone.call('several', []), { code: 'INVALID_ARGUMENT', message: /no method 'several'/ })
  t.throws(() => alone.forward(), { code: 'INVALID_ARGUMENT', message: /needs/ })
  t.throws(() => alone.getAttribute('training'), { code: 'INVALID_ARGUMENT', message: /compile\.ptl/ })
  await t.rejects(alone.run('forward', [three]), { code: 'INVALID_ARGUMENT' })
  alone.dispose()

  const beside = await loadModule(folder(bytes, true))
  const original = await loadModule(model, { compile: 'off' })
  t.strictSame(numbers(beside.forward(three)), numbers(original.forward(three)))
  // the worker packs weights at their second use, which rounds otherwise
  const [found, wanted] = [numbers(await beside.run('forward', [three])), numbers(original.forward(three))]
  t.ok(found.length === wanted.length && found.every((x, i) => Math.abs(x - wanted[i]!) < 1e-5))
  t.strictSame(beside.getAttribute('training'), original.getAttribute('training'))
  t.strictSame([...beside.parameters().keys()], [...original.parameters().keys()])
  t.throws(() => beside.call('no_such_method'), { code: 'UNKNOWN_METHOD' })
  beside.dispose()
  t.throws(() => beside.forward(three), { code: 'DISPOSED' })

  const other = folder(bytes, false)
  copyFileSync(fixturePath('linear.ptl'), join(other, '..', 'compile.ptl'))
  const wrong = await loadModule(other)
  t.throws(() => wrong.forward(three), { code: 'INVALID_ARGUMENT', message: /is another model/ })
  wrong.dispose()
})

t.test('files for another level or version', async (t) => {
  for (const changes of [{ level: 'ANOTHER' }, { library: '0.0.0' }]) {
    await t.rejects(loadModule(folder(written(changes), false)), { code: 'UNSUPPORTED_FILE', message: /compile\.ptl again/ })
    await t.rejects(loadModule(written(changes)), { code: 'UNSUPPORTED_FILE' })
    const module = await loadModule(folder(written(changes), true))
    const expected = await loadModule(model, { compile: 'off' })
    t.strictSame(numbers(module.forward(matrix(1, 2, 3, 4))), numbers(expected.forward(matrix(1, 2, 3, 4))))
    t.equal(module.plans()[0]!.state, 'plan', 'compiled at the first call')
    module.dispose()
  }
  const later = written({})
  later[8] = 1
  await t.rejects(loadModule(later), { code: 'UNSUPPORTED_FILE', message: /version 3 of the \.ptlc format, found 1/ })
  const levels = spawnSync(
    process.execPath,
    [
      '--import=tsx',
      '-e',
      `import(${JSON.stringify(runnable(fileURLToPath(new URL('../../src/index.ts', import.meta.url))))}).then((m) => m.loadModule(process.argv[1]))`,
      folder(written({}), false),
    ],
    { env: { ...process.env, ATEN_CPU_CAPABILITY: 'default' }, encoding: 'utf8' },
  )
  if (cpu.currentLevel() !== 'DEFAULT') t.match(levels.stderr, /the level in use here is DEFAULT/)
})

t.test('what cannot be compiled', (t) => {
  const attempt = (method: string, args: PlannedCall['args']) => () => compileAhead(model, () => [{ method, args }])
  t.throws(attempt('no_such_method', []), { code: 'UNKNOWN_METHOD' })
  t.throws(attempt('forward', []), { code: 'INVALID_ARGUMENT' })
  t.throws(
    attempt('collect', [matrix(1, 2, 3, 4), []]),
    { code: 'INVALID_ARGUMENT', message: /collect.* cannot be compiled to a plan/ },
    'a list that grows',
  )
  t.throws(() => compileAhead(fixturePath('no such file'), () => []), { code: 'NOT_FOUND' })
  const x = matrix(1, 2, 3, 4)
  t.throws(
    attempt('several', [x, x]),
    { code: 'INVALID_ARGUMENT', message: /it returns a tensor that the module holds/ },
    'a weight, of which the file would have a copy',
  )
  t.end()
})

t.test('calls that there is no plan for are left to the interpreter', async (t) => {
  const x = matrix(1, 2, 3, 4)
  // the method adds to the list
  const collect = (): PlannedCall => ({ method: 'collect', args: [x, []] })
  const bytes = compileAhead(model, () => [collect(), ...calls])
  const signature = 'float32[1, 4], []'
  const alone = await loadModule(folder(bytes, false))
  t.strictSame(alone.methods, ['collect', 'forward', 'scaled'])
  t.equal(alone.plans().filter((plan) => plan.state === 'plan').length, calls.length)
  t.match(
    alone.plans().filter((plan) => plan.state !== 'plan'),
    [{ method: 'collect', signature, state: 'interpreted', reason: /too few operators for a plan/, level: null }],
  )
  t.ok(alone.forward(x))
  t.throws(() => alone.call('collect', collect().args), {
    code: 'INVALID_ARGUMENT',
    message: /collect\(float32\[1, 4\], \[\]\) is interpreted \(.*\), which takes its program; that is in compile\.ptl alone: there is no/,
  })
  alone.dispose()
  const beside = await loadModule(folder(bytes, true))
  const original = await loadModule(model, { compile: 'off' })
  t.strictSame(numbers(beside.call('collect', collect().args)), numbers(original.call('collect', collect().args)))
  for (const module of [beside, original]) module.dispose()
})

for (const [name, place] of [
  ['compile.ptl', 'the directory'],
  ['linear.ff', 'all bytes'],
] as const) {
  t.test(`${name}: an original that was replaced is noticed by ${place}`, async (t) => {
    const [path, ptlc] = ['', '.ptlc'].map((end) => join(work, `replaced-${name}${end}`)) as [string, string]
    copyFileSync(fixturePath(name), path)
    const x = name === 'compile.ptl' ? matrix(1, 2, 3, 4) : tensor([1, 2, 3], [1, 3])
    writeFileSync(
      ptlc,
      compileAhead(path, () => [{ method: 'forward', args: [x] }]),
    )
    const warnings: string[] = []
    const load = (): ReturnType<typeof loadModule> => loadModule(ptlc, { onWarning: (text) => warnings.push(text) })
    const before = await load()
    const expected = numbers(before.forward(x))
    t.strictSame(warnings, [])
    t.ok(before.parameters().size > 0)
    before.dispose()

    // a retrained model: the same size, other weights
    const bytes = readFileSync(path)
    const weights = await loadModule(path)
    const data = [...weights.parameters().values()]
      .map((each) => each.data())
      .find((each) => each instanceof Float32Array && each[1] !== 0)!
    const at = bytes.indexOf(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
    t.ok(at > 0)
    weights.dispose()
    bytes[at]! ^= 1
    if (name.endsWith('.ptl')) repairChecksums(bytes)
    writeFileSync(`${path}.new`, bytes)
    renameSync(`${path}.new`, path)
    const same = await load()
    t.match(warnings, [
      /replaced-.* is another model \(of the same size, with other contents\); .*Compile .*replaced-.* again with 'ptlite compile', or move/,
    ])
    t.strictSame(numbers(same.forward(x)), expected, 'the plans are those of the old model')
    t.throws(() => same.parameters(), { code: 'INVALID_ARGUMENT', message: /is another model \(SHA-256/ })
    same.dispose()

    writeFileSync(`${path}.new`, Buffer.concat([bytes, bytes]))
    renameSync(`${path}.new`, path)
    const larger = await load()
    t.match(warnings[1], new RegExp(`another model \\(${2 * bytes.length} bytes, expected ${bytes.length}\\)`))
    t.throws(() => larger.parameters(), { code: 'INVALID_ARGUMENT', message: /bytes, expected/ })
    larger.dispose()
  })
}

t.test('a call that changes the original is seen by those that have plans', async (t) => {
  const x = matrix(1, 2, 3, 4)
  const bytes = compileAhead(model, () => [
    { method: 'by_factor', args: [x] },
    { method: 'set_factor', args: [7] },
  ])
  const [compiled, original] = [await loadModule(folder(bytes, true)), await loadModule(model, { compile: 'off' })]
  t.strictSame(
    compiled.plans().map(({ method, state }) => [method, state]),
    [
      ['by_factor', 'plan'],
      ['set_factor', 'interpreted'],
    ],
  )
  const before = numbers(original.call('by_factor', [x]))
  t.strictSame(numbers(compiled.call('by_factor', [x])), before)
  for (const module of [compiled, original]) module.call('set_factor', [3])
  const after = numbers(original.call('by_factor', [x]))
  t.strictSame(numbers(compiled.call('by_factor', [x])), after)
  t.notSame(after, before)
  for (const module of [compiled, original]) module.dispose()
})

t.test('dicts with keys of every type', async (t) => {
  const path = fixturePath('keys.ptl')
  const x = tensor([1, 2, 3])
  const bytes = compileAhead(path, () => [{ method: 'forward', args: [x] }])
  const [compiled, interpreted] = [await loadModule(bytes), await loadModule(path, { compile: 'off' })]
  const flat = (output: Output): unknown =>
    (Array.isArray(output) ? output : [output]).map((d) =>
      [...(d as Map<unknown, Output>)].map(([k, v]) => [k, typeof v === 'object' && v !== null && 'dtype' in v ? numbers(v) : v]),
    )
  const got = flat(compiled.forward(x))
  t.strictSame(got, flat(interpreted.forward(x)))
  t.strictSame(got, [
    [
      [1.5, [2, 3, 4]],
      [2, [2, 4, 6]],
      [-1e300, [1, 2, 3]],
      [2 ** 60, [-1, -2, -3]],
    ],
    [
      [7, 1],
      [-(2n ** 62n), 2],
      [2n ** 53n + 1n, 3],
    ],
    [
      ['', [0.5]],
      ['k', [1, 2]],
    ],
  ])
  compiled.dispose()
  interpreted.dispose()
})

t.test('runs in the background end before the file is let go', async (t) => {
  const module = await loadModule(
    folder(
      compileAhead(model, () => calls),
      false,
    ),
  )
  const runs = Array.from({ length: 8 }, () => module.run('forward', [matrix(1, 2, 3, 4)]).catch((error: unknown) => error))
  module.dispose()
  for (const result of await Promise.all(runs)) t.match(result, { code: 'DISPOSED' })
  const again = await loadModule(folder(sealed(compileAhead(model, () => calls)), false))
  await t.rejects(again.run('forward', [matrix(1, 2, 3, 4)], { signal: AbortSignal.abort(new Error('no')) }), { message: 'no' })
  again.dispose()
})
