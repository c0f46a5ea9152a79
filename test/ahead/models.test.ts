import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { checkFrame } from '../../compiler/frames/check-frame.js'
import { read as readHeader, readPlans } from '../../formats/ptlc/read.js'
import { openSource } from '../../formats/containers/bytes.js'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, memoryStats, Tensor } from '../../src/index.js'
import { fixturePath, type Golden, inputOf } from '../module/fixtures.js'
import { bits } from './support.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-ahead-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

/** Other numbers of the same shape. */
function changed(input: Tensor): Tensor {
  const data = input.data()
  if (data instanceof Float32Array) for (let i = 0; i < data.length; i++) data[i] = data[i]! * 0.5 - 0.1
  return Tensor.fromStorage(data, { dtype: input.dtype, shape: input.shape })
}

const folder = fixturePath('models')
for (const file of readdirSync(folder).filter((name) => /^[^.]*\.(ptl|ff)$|^mobilenet_v2\.mobile\.ptl$/.test(name))) {
  t.test(`${file}: the plan of the file is the plan made here, bit by bit`, async (t) => {
    const golden = JSON.parse(readFileSync(`${folder}/${file.split('.')[0]}.json`, 'utf8')) as Golden
    const inputs = golden.inputs.map((input) => inputOf(input) as Tensor)
    const path = join(work, `${file}.ptlc`)
    const bytes = compileAhead(join(folder, file), () => [{ method: 'forward', args: inputs }])
    writeFileSync(path, bytes)
    t.ok(
      Buffer.from(bytes).equals(compileAhead(join(folder, file), () => [{ method: 'forward', args: inputs }])),
      'the same bytes each time',
    )
    // a neighbour would serve what the file does not
    const [compiled, inMemory, original] = [await loadModule(path), await loadModule(bytes), await loadModule(join(folder, file))]
    await original.compile('forward', inputs)
    t.equal(original.plans()[0]!.state, 'plan')
    for (const args of [inputs, inputs.map(changed), inputs]) {
      const expected = bits(original.forward(...args))
      t.strictSame(bits(compiled.forward(...args)), expected)
      t.strictSame(bits(inMemory.forward(...args)), expected)
      t.strictSame(bits(await compiled.run('forward', args)), expected)
    }
    // a file has no choices left, and of weights does not know which were packed
    t.strictSame(
      compiled.plans().map((plan) => ({ ...plan, weights: null })),
      original.plans().map((plan) => ({ ...plan, choices: [], weights: null })),
    )
    const live = memoryStats().live
    for (let i = 0; i < 5; i++) for (const output of [compiled.forward(...inputs)].flat()) if (output instanceof Tensor) output.dispose()
    t.equal(memoryStats().live, live, 'no memory is left behind')
    for (const module of [compiled, inMemory, original]) module.dispose()
  })
}

t.test('an address that is moved to the end of its memory is found out', (t) => {
  const bytes = readFileSync(join(work, 'mobilenet_v2.ptl.ptlc'))
  const { plans } = readPlans(readHeader(openSource(new Uint8Array(bytes))))
  let moved = 0
  for (const { captured } of plans) {
    const sizeOf = ({ kind, index }: { kind: string; index: number }): number =>
      kind === 'constant' ? captured.constants[index]!.storage.byteLength : kind === 'buffer' ? captured.buffers[index]!.bytes : 1e6
    for (const frame of captured.frames) {
      t.equal(checkFrame(frame, sizeOf), null)
      for (const [i, pointer] of frame.pointers.entries()) {
        const pointers = frame.pointers.map((p, j) => (i === j ? { ...p, offset: sizeOf(p.target) } : p))
        t.match(checkFrame({ ...frame, pointers }, sizeOf), /reaches outside/)
        moved += pointer.offset >= 0 ? 1 : 0
      }
    }
  }
  t.ok(moved > 40, `${moved} addresses`)
  t.end()
})

t.test('copies of a file beside nothing serve what it was compiled for', async (t) => {
  const alone = mkdtempSync(join(work, 'alone-'))
  copyFileSync(join(work, 'tagger.ptl.ptlc'), join(alone, 'renamed'))
  const golden = JSON.parse(readFileSync(`${folder}/tagger.json`, 'utf8')) as Golden
  const module = await loadModule(join(alone, 'renamed'))
  t.strictSame(module.methods, ['forward'])
  t.ok(module.forward(...golden.inputs.map((input) => inputOf(input))))
  t.throws(() => module.parameters(), { code: 'INVALID_ARGUMENT', message: /tagger\.ptl/ })
  module.dispose()
  t.throws(() => module.forward(), { code: 'DISPOSED' })
})
