import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { webAssembly } from '../../runtime/native/wasm/web-assembly.js'
import { DIVISION } from '../../scripts/web/kernels/divide.js'
import { FIRST_KERNELS } from '../../scripts/web/kernels/first-kernels.js'
import { kernelNames } from '../../scripts/web/kernels/names.js'
import { Reader } from '../../scripts/web/kernels/reader.js'
import { WEB_LIBRARY, withoutWeb } from '../support/web.js'
import { levels } from '../support/web-kernels.js'

/** The two files of kernels, in Node, which reads the second one when something needs it. */

const options = { skip: withoutWeb, timeout: 120_000 }
const FOLDER = join(dirname(WEB_LIBRARY), 'web')
const read = (name: string): Buffer => readFileSync(join(FOLDER, name))

/** What the lines of a program of Node say that has the library as `web`, and functions for the files. */
function program(code: string): { readonly lines: unknown[]; readonly said: string } {
  const text = `
    const { readFileSync } = await import('node:fs')
    const web = await import(${JSON.stringify(pathToFileURL(WEB_LIBRARY).href)})
    const say = (value) => console.log(JSON.stringify(value))
    const bytes = (name) => readFileSync(${JSON.stringify(FOLDER)} + '/' + name)
    const codeOf = (call) => { try { return call() } catch ({ name, code, message }) { return { name, code, message } } }
    const x = () => web.tensor(Float32Array.from({ length: 400000 }, (_, i) => Math.sin(i)), [4, 100000])
    const sums = () => web.callOperator('aten::cumsum', [x(), 1, null])
    ${code}
    process.exit(0)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', text], { encoding: 'utf8', timeout: 100_000 })
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
  return { lines, said: stderr }
}

t.test('each file says what is in the other', options, (t) => {
  const kernels = kernelNames()
  for (const level of levels) {
    const file = level === 'RELAXED' ? 'ptlite-relaxed' : 'ptlite'
    const [first, more] = [read(`${file}.wasm`), read(`${file}-more.wasm`)].map(
      (bytes) => new Uint8Array(webAssembly!.Module.customSections(new webAssembly!.Module(bytes), DIVISION)[0]!),
    ) as [Uint8Array, Uint8Array]
    t.strictSame(first.subarray(0, 8), more.subarray(0, 8), 'both have the same mark')
    const apart = kernels.filter((_, i) => (first[8 + (i >> 3)]! & (1 << (i & 7))) !== 0)
    t.strictSame(
      apart,
      kernels.filter((name) => !FIRST_KERNELS.has(name)),
      level,
    )
  }
  t.end()
})

t.test('numbers of LEB128', (t) => {
  const numbers = new Reader(Uint8Array.of(0x7f, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x85, 0x80, 0x80, 0x80, 0x00))
  t.strictSame(
    Array.from({ length: 4 }, () => numbers.number()),
    [127, 128, 0xffffffff, 5],
  )
  const signed = new Reader(Uint8Array.of(0x3f, 0x40, 0x80, 0x80, 0x80, 0x80, 0x78, 0xff, 0xff, 0xff, 0xff, 0x7f))
  t.strictSame(
    Array.from({ length: 4 }, () => signed.signed()),
    [63, -64, -(2 ** 31), -1],
  )
  t.equal(signed.at, signed.end)
  t.end()
})

t.test('helpers that have begun before get the second file, too', options, (t) => {
  const { lines, said } = program(`
    await web.ready({ for: ['aten::matmul'] })
    web.setNumThreads(3)
    await web.ready({ for: [] })
    const m = web.tensor(new Float32Array(300 * 300).fill(0.01), [300, 300])
    for (let i = 0; i < 20; i++) web.callOperator('aten::matmul', [m, m]).dispose()
    const several = sums().data()
    web.setNumThreads(1)
    const one = sums().data()
    say([several.length, several.every((value, i) => Object.is(value, one[i])), Math.abs(several[99999]) < 10])
    web.setNumThreads(4)
    await web.ready({ for: [] })
    const again = sums().data()
    say(again.every((value, i) => Object.is(value, one[i])))`)
  t.strictSame(lines, [[400000, true, true], true], said)
  t.end()
})

t.test('the first file alone runs what it has', options, (t) => {
  const { lines, said } = program(`
    web.setKernels(bytes('ptlite.wasm'))
    say(web.callOperator('aten::sum', [x(), null]).numel)
    say(codeOf(() => sums().numel))
    say(await web.ready().catch(({ code }) => code))
    say(web.callOperator('aten::sum', [x(), null]).numel)`)
  t.match(lines, [1, { name: 'PtliteError', code: 'NATIVE_LIBRARY', message: /DEFAULT_MORE/ }, 'NATIVE_LIBRARY', 1], said)
  t.end()
})

t.test('the second file is given by its bytes', options, (t) => {
  const { lines, said } = program(`
    web.setKernels({ DEFAULT: bytes('ptlite.wasm'), DEFAULT_MORE: bytes('ptlite-more.wasm') })
    say(sums().numel)`)
  t.strictSame(lines, [400000], said)
  t.end()
})

for (const [title, more] of [
  ['of another level', "bytes('ptlite-relaxed-more.wasm')"],
  ['of the same level, and the first', "bytes('ptlite.wasm')"],
  ['that is no module', 'new Uint8Array(100)'],
] as const) {
  t.test(`a second file ${title} is refused`, options, (t) => {
    const { lines, said } = program(`
      web.setKernels({ DEFAULT: bytes('ptlite.wasm'), DEFAULT_MORE: ${more} })
      const early = codeOf(() => sums().numel)
      const late = await web.ready().then(() => 'ready', ({ name, code, message }) => ({ name, code, message }))
      say([early, late])
      say(web.callOperator('aten::sum', [x(), null]).numel)`)
    const refused = { name: 'PtliteError', code: 'NATIVE_LIBRARY', message: /second file|cannot load the kernels/ }
    t.match(lines, [[refused, refused], 1], said)
    t.end()
  })
}
