import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { gunzipSync } from 'node:zlib'
import { basename, join } from 'node:path'
import t from 'tap'
import type { AheadModule } from '../../formats/ptlc/module.js'
import { writeAhead } from '../../formats/ptlc/write.js'
import { VERSION } from '../../runtime/version.js'
import { aboutModule, planAhead } from '../../src/ahead.js'
import { readNpy } from '../../src/cli/npy.js'
import { cpu, tensor } from '../../src/index.js'
import { openProgramEngine } from '../../engine/open-program.js'
import { sha256 } from '../../engine/replaced.js'
import { fixturePath } from '../module/fixtures.js'
import { ptlite } from './in-process.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-cli-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

const rows = (count: number): string => {
  const path = join(work, `rows-${count}.json`)
  writeFileSync(path, JSON.stringify(Array.from({ length: count }, (_, i) => [i, i + 1, i + 2, i + 3.5])))
  return path
}

/** A folder with the fixture and what it is compiled to; without the fixture where `alone`. */
async function compiled(alone: boolean): Promise<string> {
  const folder = mkdtempSync(join(work, 'case-'))
  const model = join(folder, 'compile.ptl')
  copyFileSync(fixturePath('compile.ptl'), model)
  const { status, stderr } = await ptlite(
    'compile',
    model,
    '--input',
    rows(1),
    '--input',
    rows(2),
    '--method',
    'scaled',
    '-i',
    rows(1),
    five(),
  )
  if (status !== 0) throw new Error(stderr)
  if (alone) rmSync(model)
  return join(folder, 'compile.ptlc')
}

function five(): string {
  const path = join(work, 'five.json')
  writeFileSync(path, '{"int": 5}')
  return path
}

/** The same plan in a file that says something else of itself. */
function claiming(changes: Partial<AheadModule>, beside: boolean): string {
  const folder = mkdtempSync(join(work, 'claims-'))
  const model = fixturePath('compile.ptl')
  if (beside) copyFileSync(model, join(folder, basename(model)))
  const module = openProgramEngine(model)
  const call = { method: 'forward', args: [tensor([0, 1, 2, 3.5], [1, 4])] }
  writeFileSync(join(folder, 'claims.ptlc'), writeAhead({ ...aboutModule(model, module), ...planAhead(module, [call]), ...changes }))
  module.dispose()
  return join(folder, 'claims.ptlc')
}

t.test('compile, then run the file alone', async (t) => {
  const folder = mkdtempSync(join(work, 'case-'))
  const model = join(folder, 'compile.ptl')
  copyFileSync(fixturePath('compile.ptl'), model)
  const output = join(folder, 'out.ptlc')
  const made = await ptlite('compile', model, '--input', rows(2), '-o', output)
  t.equal(made.status, 0, made.stderr)
  t.match(made.stdout, new RegExp(`out\\.ptlc: .*level ${cpu.currentLevel()}\\n  forward\\(float32\\[2, 4\\]\\): \\d+ kernel calls, arena`))
  const expected = await ptlite('run', model, '--input', rows(2), '--json')
  rmSync(model)
  const found = await ptlite('run', output, '--input', rows(2), '--json')
  t.strictSame(found, expected)
  t.match(await ptlite('run', output, '--input', rows(3)), {
    status: 1,
    stderr: /compiled for forward\(float32\[2, 4\]\).*there is no .*compile\.ptl/,
  })
})

t.test('calls without a plan are warned of, and need the model', async (t) => {
  const folder = mkdtempSync(join(work, 'case-'))
  const model = join(folder, 'compile.ptl')
  copyFileSync(fixturePath('compile.ptl'), model)
  const list = join(folder, 'list.json')
  writeFileSync(list, '{"list": []}')
  const output = join(folder, 'out.ptlc')
  const made = await ptlite('compile', model, '-i', rows(1), '-m', 'collect', '-i', rows(1), list, '-o', output)
  t.match(made, {
    status: 0,
    stderr: /^warning: no plan for collect\(float32\[1, 4\], \[\]\): .*too few operators for a plan/,
    stdout: /collect\(float32\[1, 4\], \[\]\): interpreted, needs compile\.ptl beside the file/,
  })
  t.match(
    (await ptlite('inspect', output)).stdout,
    /Left to the interpreter \(1\)\n +collect\(float32\[1, 4\], \[\]\) +.*too few operators for a plan/,
  )
  const found = await ptlite('run', output, '--method', 'collect', '--input', rows(1), list, '--json')
  t.strictSame(found, await ptlite('run', model, '--method', 'collect', '--input', rows(1), list, '--json'))
  rmSync(output)
  const none = await ptlite('compile', model, '-m', 'collect', '-i', rows(1), list, '-o', output)
  t.match(none, { status: 1, stdout: '', stderr: /cannot be compiled to a plan: .*too few operators for a plan/ })
  t.throws(() => readFileSync(output), { code: 'ENOENT' })
})

t.test('run without inputs: those of the form it was compiled for', async (t) => {
  const model = await compiled(true)
  const file = join(work, 'y.npy')
  const { status, stderr } = await ptlite('run', model, '--output', file)
  t.equal(status, 0, stderr)
  t.match(stderr, /no --input; random, as compiled for: forward\(float32\[1, 4\]\)/)
  t.equal(readNpy(readFileSync(file)).shape[0], 1)
  const scaled = await ptlite('run', model, '--method', 'scaled', '--json')
  t.equal(scaled.status, 0, scaled.stderr)
})

t.test('bench', async (t) => {
  const model = await compiled(true)
  const { status, stdout, stderr } = await ptlite('bench', model, '--runs', '3', '--method', 'scaled', '--json')
  t.equal(status, 0, stderr)
  t.match(JSON.parse(stdout), { runs: 3, input: 'random, as compiled for: scaled(float32[1, 4], 5)' })
  t.match(await ptlite('bench', model, '--runs', '3', '--method', 'several'), { status: 2, stderr: /was not compiled for several/ })
})

t.test('inspect', async (t) => {
  const model = await compiled(true)
  const { status, stdout, stderr } = await ptlite('inspect', model, '--json')
  t.equal(status, 0, stderr)
  t.match(JSON.parse(stdout), {
    kind: 'ptlc',
    bytes: readFileSync(model).length,
    library: VERSION,
    level: cpu.currentLevel(),
    usable: true,
    reason: null,
    original: { name: 'compile.ptl', sha256: sha256(readFileSync(fixturePath('compile.ptl'))) },
    bytecodeVersion: Number,
    methods: [
      { name: 'forward', schema: /^forward\(Tensor / },
      { name: 'scaled', schema: /^scaled\(Tensor .*, int / },
    ],
    operators: [/^aten::/],
    plans: [
      { method: 'forward', signature: 'float32[1, 4]' },
      { signature: 'float32[2, 4]' },
      { method: 'scaled', signature: 'float32[1, 4], 5' },
    ],
  })
  const report = JSON.parse(stdout) as {
    constantBytes: number
    plans: {
      frames: number
      kernels: Record<string, number>
      arenaBytes: number
      lowerBound: number
      naiveBytes: number
      outputBytes: number
    }[]
  }
  t.ok(report.constantBytes > 0)
  for (const plan of report.plans) {
    t.equal(
      Object.values(plan.kernels).reduce((a, b) => a + b, 0),
      plan.frames,
    )
    t.ok(plan.lowerBound <= plan.arenaBytes && plan.arenaBytes <= Math.max(plan.naiveBytes, 64) && plan.outputBytes > 0)
  }
  const text = await ptlite('inspect', model)
  t.match(text.stdout, /its plans can be used here\ncompiled from compile\.ptl, \d+ bytes, SHA-256 [0-9a-f]{64}/)
  t.match(text.stdout, /forward\(float32\[2, 4\]\) +\d+ kernel calls/)
  t.match(await ptlite('inspect', model, '--code'), { status: 1, stderr: /holds no instructions; --code needs compile\.ptl/ })
  t.match(await ptlite('inspect', model, '--plan'), { status: 1, stderr: /its operators are in compile\.ptl alone/ })
  const beside = await ptlite('inspect', await compiled(false), '--plan')
  t.match(beside, { status: 0, stdout: /^# recorded: \d+ operators/ })
})

t.test('files for another level or version', async (t) => {
  const cases: [Partial<AheadModule>, RegExp][] = [
    [{ level: 'ANOTHER' }, /it was compiled for ANOTHER, the level in use here is/],
    [{ library: '0.0.0' }, /it was compiled by ptlite 0\.0\.0, this is/],
  ]
  for (const [changes, message] of cases) {
    const alone = claiming(changes, false)
    t.match(await ptlite('run', alone, '--input', rows(1)), { status: 1, stderr: message })
    const report = await ptlite('inspect', alone, '--json')
    t.match(JSON.parse(report.stdout), { usable: false, reason: message, ...changes })
    t.match((await ptlite('inspect', alone)).stdout, /its plans cannot be used here: it was compiled/)
    const beside = claiming(changes, true)
    const expected = await ptlite('run', fixturePath('compile.ptl'), '--input', rows(1), '--json')
    t.strictSame(await ptlite('run', beside, '--input', rows(1), '--json'), expected, 'compiled again')
    t.equal((await ptlite('bench', beside, '--runs', '2')).status, 0, 'the form is in the file all the same')
  }
})

t.test('damaged files', async (t) => {
  const bytes = readFileSync(await compiled(true))
  const path = join(work, 'damaged.ptlc')
  const at = (place: number): Buffer => {
    const copy = Buffer.from(bytes)
    copy[place]! ^= 0xff
    return copy
  }
  for (const damaged of [bytes.subarray(0, 40), bytes.subarray(0, -1), at(20), at(100), at(bytes.length - 3)]) {
    writeFileSync(path, damaged)
    for (const command of ['run', 'inspect', 'bench'])
      t.match(await ptlite(command, path), { status: 1, stdout: '', stderr: /\(INVALID_FILE\)\n$/ })
  }
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 8), Buffer.from([9]), bytes.subarray(9)]))
  t.match(await ptlite('inspect', path), { status: 1, stderr: /version 3 of the \.ptlc format, found 9.*UNSUPPORTED_FILE/ })
})

t.test('a language model has plans for prompts and tokens', async (t) => {
  const [model, output] = [join(work, 'llama.pt2'), join(work, 'llama.ptlc')]
  writeFileSync(model, gunzipSync(readFileSync(fixturePath('generation/llama-buffers.pt2.gz'))))
  const { status, stdout, stderr } = await ptlite('compile', model, '--weights', 'int8', '-o', output)
  t.match([status, stderr], [0, ''])
  const sizes = [...stdout.matchAll(/forward\(int64\[1, (\d+)\], int64\[(\d+)\]\): \d+ kernel calls/g)].map(([, tokens, places]) => [
    tokens,
    places,
  ])
  t.same(
    sizes,
    ['1', '4', '16', '64'].map((size) => [size, size]),
  )
  const shown = await ptlite('inspect', output)
  t.match(shown, { status: 0, stdout: /Kept between calls \(6, 24\.6 kB\)\n(.*\n)* .*float32\[1, 2, 96, 8\]/ })
})

t.test('commands that need a program say so', async (t) => {
  const model = await compiled(false)
  for (const args of [
    ['trace', model],
    ['prune', model, '--sparsity', '0.5', '-o', join(work, 'p.ptl')],
    ['compile', model],
  ]) {
    t.match(await ptlite(...args), { status: 1, stderr: /takes no \.ptlc file, which holds plans and no program; .*UNSUPPORTED_FILE/ })
  }
})

t.test('what cannot be compiled is said', async (t) => {
  const model = fixturePath('compile.ptl')
  const output = join(work, 'never.ptlc')
  const cases: [RegExp, number, ...string[]][] = [
    [/no bundled inputs, and declares no sizes; give the arguments of a run with --input/, 1, model, '-o', output],
    [/cannot read the model/, 1, join(work, 'absent.ptl'), '-o', output],
    [/absent\.npy/, 1, model, '--input', join(work, 'absent.npy'), '-o', output],
    [/no method 'backward'/, 1, model, '--method', 'backward', '-o', output],
    [/would be overwritten/, 1, model, '-i', rows(1), '-o', model],
    [/cannot write/, 1, model, '-i', rows(1), '-o', join(work, 'no/such/folder.ptlc')],
    [/name a model file/, 2],
    [/unknown option --merge/, 2, model, '--merge', 'x'],
  ]
  for (const [message, status, ...args] of cases) t.match(await ptlite('compile', ...args), { status, stderr: message })
  t.throws(() => readFileSync(output), { code: 'ENOENT' })
})
