import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { type ArenaUse, loadModule, tensor } from '../../src/index.js'
import { arenaPicture } from '../../src/cli/arena-picture.js'
import { fixturePath } from '../module/fixtures.js'
import { ptlite } from './in-process.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-arena-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

interface Drawn {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly title: string
}

function rectangles(svg: string): Drawn[] {
  const pattern = /<rect class="buffer" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"[^>]*><title>([^<]*)<\/title><\/rect>/g
  return [...svg.matchAll(pattern)].map(([, x, y, width, height, title]) => ({
    ...{ x: Number(x), y: Number(y), width: Number(width), height: Number(height), title: title! },
  }))
}

/** Coordinates have two decimals. */
const apart = (a: Drawn, b: Drawn): boolean =>
  a.x + a.width <= b.x + 0.02 || b.x + b.width <= a.x + 0.02 || a.y + a.height <= b.y + 0.02 || b.y + b.height <= a.y + 0.02

function live({ buffers, kernels }: ArenaUse): number[] {
  return kernels.map((_, frame) => buffers.reduce((sum, b) => sum + (b.first <= frame && frame <= b.last ? b.bytes : 0), 0))
}

for (const name of ['mobilenet_v2', 'shufflenet_v2', 'efficientnet']) {
  t.test(`${name}: the picture is the arena`, async (t) => {
    const path = join(work, `${name}.svg`)
    const { status, stdout, stderr } = await ptlite('inspect', fixturePath(`models/${name}.ptl`), '--arena', path, '--json')
    t.equal(status, 0, stderr)
    const use = JSON.parse(stdout) as ArenaUse
    const svg = readFileSync(path, 'utf8')
    const drawn = rectangles(svg)
    t.equal(drawn.length, use.buffers.length)
    t.ok(drawn.length > 5)
    t.equal(
      use.buffers.reduce((sum, b) => sum + b.bytes, 0),
      use.naiveBytes,
      'every buffer is there',
    )
    t.equal(Math.max(...live(use)), use.lowerBound)
    t.equal(Math.max(...use.buffers.map((b) => b.offset + b.bytes)), use.arenaBytes)
    t.notOk(
      drawn.some((a, i) => drawn.some((b, j) => j < i && !apart(a, b))),
      'no two overlap',
    )
    // one scale for all: bytes and frames of the rectangles are those of the buffers
    const [byte, frame] = [drawn[0]!.height / use.buffers[0]!.bytes, drawn[0]!.width / (use.buffers[0]!.last - use.buffers[0]!.first + 1)]
    for (const [i, { width, height, title }] of drawn.entries()) {
      const { names, bytes, offset, first, last } = use.buffers[i]!
      t.ok(Math.abs(height - bytes * byte) < 0.5 && Math.abs(width - (last - first + 1) * frame) < 0.5, title)
      t.equal(
        title,
        `${names.join(', then ')}\n${bytes} bytes from byte ${offset}\nframes ${first} (${use.kernels[first]}) to ${last} (${use.kernels[last]})`,
      )
      t.match(names[0], /^%\d+.* = (aten::\w+|[a-zA-Z]+)/)
    }
    t.match(svg, /<path class="lower-bound" d="M90 [\d.]+H1000" stroke="#c00"/)
    t.match(svg, />lower bound<\/text>/)
  })
}

t.test('of a file that was compiled ahead', async (t) => {
  const folder = mkdtempSync(join(work, 'case-'))
  const model = join(folder, 'mobilenet_v2.ptl')
  copyFileSync(fixturePath('models/mobilenet_v2.ptl'), model)
  const module = await loadModule(model)
  const x = tensor(new Float32Array(3 * 64 * 64), [1, 3, 64, 64])
  const expected = module.arena('forward', [x])
  const input = join(folder, 'x.json')
  writeFileSync(input, JSON.stringify({ dtype: 'float32', shape: [1, 3, 64, 64], data: [...x.data()] }))
  t.equal((await ptlite('compile', model, '--input', input)).status, 0)
  rmSync(model)
  const { stdout } = await ptlite('inspect', join(folder, 'mobilenet_v2.ptlc'), '--arena', join(folder, 'a.svg'), '--json')
  const nameless = ({ buffers, ...use }: ArenaUse): unknown => ({ ...use, buffers: buffers.map((b) => ({ ...b, names: [] })) })
  const found = JSON.parse(stdout) as ArenaUse
  t.strictSame(nameless(found), nameless(expected))
  t.ok(found.buffers.every((b) => b.names.every((name) => found.kernels.includes(name))))
  module.dispose()
})

t.test('names and titles are text', (t) => {
  const buffer = { names: ['a<b> & "c"'], offset: 0, bytes: 64, first: 0, last: 0 }
  const svg = arenaPicture('<script>&', { kernels: ['x'], buffers: [buffer], arenaBytes: 64, lowerBound: 64, naiveBytes: 64 })
  t.notMatch(svg, /<script|<b>/)
  t.match(svg, /&lt;script&gt;&amp;/)
  t.match(svg, /<title>a&lt;b&gt; &amp; "c"\n64 bytes from byte 0/)
  t.end()
})

t.test('a plan without intermediates', (t) => {
  const svg = arenaPicture('empty', { kernels: [], buffers: [], arenaBytes: 0, lowerBound: 0, naiveBytes: 0 })
  t.notMatch(svg, /NaN|Infinity/)
  t.equal(rectangles(svg).length, 0)
  t.end()
})

t.test('the graph after each pass, with how convolutions are computed', async (t) => {
  const model = fixturePath('models/resnet18.ptl')
  const { status, stdout } = await ptlite('inspect', model, '--plan')
  t.equal(status, 0)
  const passes = stdout.match(/^# .*$/gm)!
  t.match(passes[0], /^# recorded: \d+ operators$/)
  t.ok(passes.some((line) => /^# after layout: \d+ operators$/.test(line)) && passes.some((line) => line.endsWith(': nothing to do')))
  t.match(stdout, / convolution\(.*layout="blocks".*\)  # (winograd|direct|pointwise|few channels): /)
})

t.test('wrong command lines', async (t) => {
  const model = fixturePath('models/squeezenet.ptl')
  const cases: [RegExp, number, ...string[]][] = [
    [/--code goes without --plan and --arena/, 2, '--arena', 'x.svg', '--code'],
    [/--plan is text/, 2, '--plan', '--json'],
    [/--input goes with --plan and --arena/, 2, '--input', 'x.npy'],
    [/cannot write/, 1, '--arena', join(work, 'no/such.svg')],
  ]
  for (const [message, status, ...args] of cases) t.match(await ptlite('inspect', model, ...args), { status, stderr: message })
})
