import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { checkFrame } from '../../compiler/frames/check-frame.js'
import { read as readHeader, readPlans } from '../../formats/ptlc/read.js'
import { openSource } from '../../formats/containers/bytes.js'
import { compileAhead } from '../../src/ahead.js'
import { loadModule } from '../../src/index.js'
import { fixturePath, type Golden, inputOf } from '../module/fixtures.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-ahead-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

const folder = fixturePath('models')
for (const name of ['mobilenet_v2', 'tagger']) {
  const { inputs } = JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8')) as Golden
  const args = inputs.map(inputOf)
  writeFileSync(
    join(work, `${name}.ptl.ptlc`),
    compileAhead(join(folder, `${name}.ptl`), () => [{ method: 'forward', args }]),
  )
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
