import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readNpy, writeNpy } from '../../src/cli/npy.js'
import { openSource } from '../../formats/containers/bytes.js'
import { readDirectory } from '../../formats/containers/zip/directory.js'
import { findRecord } from '../../formats/containers/zip/local.js'
import { tensor } from '../../src/index.js'
import { ptlite } from './in-process.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const digits = (name: string): string => fileURLToPath(new URL(`../../examples/digits/${name}`, import.meta.url))

if (!existsSync(cli)) throw new Error(`${cli} is missing; run 'npm run build'`)

/** In a process of its own, as it is installed. */
function spawned(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

const images = readNpy(readFileSync(digits('images.npy')))
const expected = JSON.parse(readFileSync(digits('expected.json'), 'utf8')) as { files: Record<string, { predictions: number[] }> }

/** A file with the first `count` images, as the network takes them. */
function inputFile(dir: string, count: number): string {
  const path = join(dir, 'input.npy')
  writeFileSync(path, writeNpy(tensor(images.data.slice(0, 64 * count), [count, 1, 8, 8], 'uint8')))
  return path
}

t.test('run', async (t) => {
  const dir = t.testdir({})
  const input = inputFile(dir, 3)
  for (const [file, { predictions }] of Object.entries(expected.files)) {
    const { status, stdout, stderr } = await ptlite('run', digits(file), '--input', input, '--json')
    t.equal(status, 0, stderr)
    const output = JSON.parse(stdout) as { dtype: string; shape: number[]; data: number[][] }
    t.strictSame([output.dtype, output.shape], ['float32', [3, 10]])
    const found = output.data.map((row) => row.indexOf(Math.max(...row)))
    t.strictSame(found, predictions.slice(0, 3), `${file} agrees with PyTorch`)
  }
  t.match((await ptlite('run', digits('digits.ptl'), '-i', input)).stdout, /^float32\[3, 10\]\n\[\[/)
})

t.test('run with JSON input, another method, an output file and a profile', async (t) => {
  const dir = t.testdir({
    'x.json': JSON.stringify({ args: [{ dtype: 'uint8', shape: [1, 1, 8, 8], data: [...(images.data.slice(0, 64) as Uint8Array)] }] }),
  })
  const [input, output, profile] = [join(dir, 'x.json'), join(dir, 'y.npy'), join(dir, 'trace.json')]
  const { status, stderr } = await ptlite(
    'run',
    digits('digits.ptl'),
    input,
    '--method',
    'logits',
    '--output',
    output,
    '--profile',
    profile,
  )
  t.equal(status, 0, stderr)
  t.strictSame(readNpy(readFileSync(output)).shape, [1, 10])
  const trace = JSON.parse(readFileSync(profile, 'utf8')) as { traceEvents: { name: string; ph: string; ts: number; dur: number }[] }
  t.ok(trace.traceEvents.some((e) => e.name === 'aten::conv2d' && e.ph === 'X' && e.dur >= 0))
})

t.test('inspect', async (t) => {
  const text = await ptlite('inspect', digits('digits.ptl'), '--code')
  t.equal(text.status, 0, text.stderr)
  t.match(text.stdout, /forward\(Tensor pixels\) -> Tensor/)
  t.match(text.stdout, /features\.0\.weight +float32\[16, 1, 3, 3\] +576 B/)
  t.match(text.stdout, /OP +\d+ +aten::conv2d/)
  const report = JSON.parse((await ptlite('inspect', digits('digits.ff'), '--json')).stdout) as Record<string, unknown>
  t.match(report, { kind: 'ff', bytecodeVersion: 9, missing: [], methods: [{ name: 'forward' }] })
  t.notOk('code' in report)
})

t.test('bench', async (t) => {
  const { status, stdout, stderr } = await ptlite('bench', digits('digits.mobile.ptl'), '--runs', '20', '--json')
  t.equal(status, 0, stderr)
  const report = JSON.parse(stdout) as { runs: number; medianMs: number; p95Ms: number; input: string }
  t.equal(report.runs, 20)
  t.ok(report.medianMs > 0 && report.p95Ms >= report.medianMs)
  t.match(report.input, /guess from the weights/)
  t.match((await ptlite('bench', digits('digits.ptl'), '--shape', '2,1,8,8', '--runs', '2')).stdout, /input +random float32\[2, 1, 8, 8\]/)
})

interface KernelRow {
  readonly frame: number
  readonly kernel: string
  readonly operator: string
  readonly ms: number
  readonly share: number
  readonly flops: number
  readonly bytes: number
  readonly gflops: number
  readonly gbytes: number
}

t.test('the kernel calls of a replay', async (t) => {
  const { status, stdout, stderr } = await ptlite('bench', digits('digits.ptl'), '--runs', '5', '--profile', '--json')
  t.equal(status, 0, stderr)
  const { kernels } = JSON.parse(stdout) as { kernels: KernelRow[] }
  t.strictSame(
    kernels.map((row) => row.frame).sort((a, b) => a - b),
    kernels.map((_, i) => i),
  )
  t.ok(
    kernels.every((row, i) => i === 0 || kernels[i - 1]!.ms >= row.ms),
    'slowest first',
  )
  t.ok(Math.abs(kernels.reduce((sum, row) => sum + row.share, 0) - 1) < 1e-9)
  for (const { operator, ms, flops, bytes, gflops, gbytes } of kernels) {
    t.match(operator, /^%\d+ = (aten::\w+|[a-zA-Z]+)/)
    t.ok(Math.abs(gflops * ms * 1e6 - flops) <= 1e-6 * flops && Math.abs(gbytes * ms * 1e6 - bytes) <= 1e-6 * bytes)
  }
  t.ok(kernels.some((row) => row.flops > 0))
  const text = await ptlite('bench', digits('digits.ptl'), '--runs', '5', '--profile')
  t.match(text.stdout, /frame +time +GFLOP\/s +GB\/s +bytes +share +kernel +operator\n/)
  t.match(text.stdout, new RegExp(`all .* ${kernels.length} kernel calls`))

  const file = join(t.testdir({}), 'trace.json')
  const input = inputFile(t.testdir({ x: {} }), 1)
  const run = await ptlite('run', digits('digits.ptl'), '--input', input, '--profile', file, '--kernels')
  t.equal(run.status, 0, run.stderr)
  const { traceEvents } = JSON.parse(readFileSync(file, 'utf8')) as {
    traceEvents: { cat: string; args: { bytes: number; label: string } }[]
  }
  t.match(run.stdout, new RegExp(`frame +time.* ${traceEvents.length} kernel calls`, 's'))
  t.ok(traceEvents.every(({ cat, args }) => cat === 'kernel' && args.bytes > 0 && args.label.startsWith('%')))
  t.match(await ptlite('run', digits('digits.ptl'), '--kernels'), { status: 2, stderr: /--kernels goes with --profile/ })
})

t.test('cpu', async (t) => {
  const { stdout } = await ptlite('cpu')
  t.match(stdout, /level in use/)
  t.match(stdout, /^AMX +/m)
  t.match(stdout, /^XCR0: [0-9a-f]{16}$/m)
  t.match(stdout, /^os --> avx512: (true|false)$/m)
  t.match(stdout, /^avx512_bf16: +(true|false)$/m)
  const report = JSON.parse((await ptlite('cpu', '--kernels', '--json')).stdout) as {
    currentLevel: string
    highestCpuLevel: string
    levels: { name: string; inUse: boolean; reason: string | null }[]
    kernels: Record<string, string>
  }
  t.equal(report.levels.findLast((level) => level.inUse)?.name, report.currentLevel)
  t.ok(report.levels.every(({ inUse, reason }) => inUse === (reason === null)))
  t.ok(Object.keys(report.kernels).length > 0)
  const file = join(t.testdir({ 'cpu.txt': (await ptlite('cpu', '--dump')).stdout, 'bad.txt': '1 0 zz' }), 'cpu.txt')
  const recorded = JSON.parse((await ptlite('cpu', '--from', file, '--json')).stdout) as { highestCpuLevel: string; levels: unknown }
  t.strictSame([recorded.highestCpuLevel, recorded.levels], [report.highestCpuLevel, report.levels], 'a dump says the same as the machine')
  const bad = await ptlite('cpu', '--from', file.replace('cpu.txt', 'bad.txt'))
  t.equal(bad.status, 1)
  t.match(bad.stderr, /line 1: expected 'leaf subleaf/)
})

t.test('errors a user can cause exit with 1 and one message', async (t) => {
  const dir = t.testdir({ 'bad.ptl': 'not a model', 'bad.npy': 'not npy', 'bad.json': '{' })
  const cases: [RegExp, ...string[]][] = [
    [/INVALID_FILE/, 'run', join(dir, 'bad.ptl')],
    [/NOT_FOUND/, 'inspect', join(dir, 'absent.ptl')],
    [/bad\.npy.*INVALID_FILE/s, 'run', digits('digits.ptl'), '--input', join(dir, 'bad.npy')],
    [/bad\.json.*not JSON/s, 'run', digits('digits.ptl'), '--input', join(dir, 'bad.json')],
    [/no method 'backward'/, 'run', digits('digits.ptl'), '--method', 'backward'],
    [/needs pixels: Tensor/, 'run', digits('digits.ptl')],
  ]
  for (const [message, ...args] of cases) {
    const { status, stdout, stderr } = await ptlite(...args)
    t.equal(status, 1, args.slice(0, 1).concat(args.slice(2)).join(' '))
    t.match(stderr, message)
    t.notMatch(stderr, /\n\s+at /, 'no JavaScript stack')
    t.equal(stdout, '')
  }
})

t.test('wrong command lines exit with 2 and the usage', async (t) => {
  for (const args of [
    ['run'],
    ['run', 'a.ptl', 'b.ptl'],
    ['run', 'a.ptl', '--nonsense'],
    ['bench', 'a.ptl', '--runs', 'x'],
    ['inspect'],
    ['cpu', 'x'],
  ]) {
    const { status, stderr } = await ptlite(...args)
    t.equal(status, 2, args.join(' '))
    t.match(stderr, new RegExp(`usage: ptlite ${args[0]!}`))
  }
  t.equal((await ptlite('fly')).status, 2)
  t.equal((await ptlite()).status, 2)
})

t.test('the installed command', (t) => {
  const input = inputFile(t.testdir({}), 1)
  const { status, stdout, stderr } = spawned('run', digits('digits.ptl'), '--input', input, '--json')
  t.equal(status, 0, stderr)
  t.strictSame((JSON.parse(stdout) as { shape: number[] }).shape, [1, 10])
  t.match(spawned('fly'), { status: 2, stdout: '', stderr: /unknown command 'fly'/ })
  t.end()
})

t.test('help and version', async (t) => {
  t.match(await ptlite('--help'), { status: 0, stdout: /ptlite run MODEL/ })
  t.match(await ptlite('run', '--help'), { status: 0, stdout: /--profile FILE/ })
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  t.equal((await ptlite('--version')).stdout.trim(), manifest.version)
})

t.test('verify', async (t) => {
  const path = digits('digits.ptl')
  const whole = await ptlite('verify', path, digits('digits.ff'))
  t.equal(whole.status, 0, whole.stderr)
  t.match(whole.stdout, /digits\.ptl: whole; methods forward, logits\n.*digits\.ff: whole/)
  const bytes = readFileSync(path)
  // the last byte of a weight; nothing that loading reads otherwise
  const entry = readDirectory(openSource(bytes)).find(({ name }) => name.includes('/data/0'))!
  const copy = Buffer.from(bytes)
  copy[findRecord(openSource(bytes), entry, entry.name) + entry.size - 1]! ^= 1
  const damaged = join(t.testdir({ 'damaged.ptl': copy }), 'damaged.ptl')
  const { status, stderr } = await ptlite('verify', damaged)
  t.equal(status, 1)
  t.match(stderr, /data\/0 is damaged/)
  t.equal((await ptlite('inspect', damaged)).status, 0, 'weights are read where they are needed')
  t.equal((await ptlite('verify')).status, 2)
})
