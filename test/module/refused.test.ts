import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadModelFile } from '../../formats/read.js'
import { errorOf, fixtureBytes, fixturePath } from './fixtures.js'
import { p, pickle } from './pickle-writer.js'
import { zip } from './zip-writer.js'

const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value))

/** An archive with this bytecode and nothing in its module. */
function archive(bytecode: Uint8Array, version = '3\n'): Uint8Array {
  const root = pickle(p.global('__torch__', 'M'), p.emptyTuple, p.newObject, p.emptyDict, p.build)
  return zip([
    { name: 'm/version', data: text(version) },
    { name: 'm/bytecode.pkl', data: bytecode },
    { name: 'm/data.pkl', data: root },
  ])
}

t.test('files that are no mobile modules say what they are', (t) => {
  const torchScript = errorOf(() => loadModelFile(zip([{ name: 'm/model.json', data: text('{}') }])))
  t.equal(torchScript.code, 'UNSUPPORTED_FILE')
  t.match(torchScript.message, /a TorchScript archive from before PyTorch 1\.4; .*torch\.jit\.load\('.*'\)\.save\(/)
  for (const name of ['tensors.pt', 'legacy.pt']) {
    const error = errorOf(() => loadModelFile(fixturePath(name)))
    t.equal(error.code, 'UNSUPPORTED_FILE')
    t.match(error.message, /torch\.save/)
  }
  for (const bytes of [new Uint8Array(0), new Uint8Array(3), new Uint8Array(100), text('{"json": true}')]) {
    const error = errorOf(() => loadModelFile(bytes))
    t.equal(error.code, 'INVALID_FILE')
    t.match(error.message, /expected a \.ptl \(zip\), .* or \.pte \(program of ExecuTorch\) module/)
  }
  t.match(errorOf(() => loadModelFile(zip([{ name: 'm/hello', data: text('x') }]))).message, /not a module/)
  t.end()
})

t.test('paths', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  t.match(errorOf(() => loadModelFile(join(folder, 'none.ptl'))).message, /cannot read the model .*none\.ptl/)
  t.match(errorOf(() => loadModelFile(folder)).message, /not a file/)
  const empty = join(folder, 'empty')
  writeFileSync(empty, '')
  t.match(errorOf(() => loadModelFile(empty)).message, /an empty file/)
  const copy = join(folder, 'modèle ✓')
  writeFileSync(copy, fixtureBytes('linear.ptl'))
  loadModelFile(copy).close()
  t.equal(errorOf(() => loadModelFile(5 as unknown as string)).code, 'INVALID_ARGUMENT')
  t.end()
})

t.test('versions', (t) => {
  const ofBytecode = (version: number): Uint8Array => archive(pickle(p.mark, p.int(version), p.tuple))
  for (const version of [4, 9]) loadModelFile(ofBytecode(version)).close()
  for (const version of [-1, 3, 10]) {
    const error = errorOf(() => loadModelFile(ofBytecode(version)))
    t.equal(error.code, 'UNSUPPORTED_FILE')
    t.match(error.message, new RegExp(`expected bytecode version 4 to 9, found ${version}`))
  }
  t.match(errorOf(() => loadModelFile(archive(pickle(p.mark, p.mark, p.tuple, p.tuple)))).message, /found 3/, 'version 3 had no number')
  const operators = (version: string): Uint8Array => archive(pickle(p.mark, p.int(8), p.tuple), version)
  t.equal(loadModelFile(operators('10')).operatorVersion, 10)
  t.match(errorOf(() => loadModelFile(operators('11'))).message, /expected operator version 1 to 10, found 11/)
  t.match(errorOf(() => loadModelFile(operators('x'))).message, /expected a number, found 'x'/)
  t.end()
})

t.test('byte order', (t) => {
  const ordered = (order: string): Uint8Array => {
    const root = pickle(p.global('__torch__', 'M'), p.emptyTuple, p.newObject, p.emptyDict, p.build)
    const records = { version: text('3'), byteorder: text(order), 'bytecode.pkl': pickle(p.mark, p.int(8), p.tuple), 'data.pkl': root }
    return zip(Object.entries(records).map(([name, data]) => ({ name: `m/${name}`, data })))
  }
  loadModelFile(ordered('little')).close()
  const error = errorOf(() => loadModelFile(ordered('big')))
  t.equal(error.code, 'UNSUPPORTED_FILE')
  t.match(error.message, /little-endian byte order, found 'big'/)
  t.end()
})

t.test('bytecode of the wrong shape', (t) => {
  const pair = (key: string, value: number[]): number[] => [...p.text(key), ...value, ...p.tuple2]
  const code = (instructions: number[]): number[] =>
    [
      p.mark,
      pair('instructions', instructions),
      pair('operators', p.emptyTuple),
      pair('constants', p.emptyTuple),
      pair('types', p.emptyTuple),
      pair('register_size', p.int(1)),
      p.tuple,
    ].flat()
  const file = (...fn: readonly (readonly number[])[]): Uint8Array => archive(pickle(p.mark, p.int(8), p.mark, ...fn, p.tuple, p.tuple))
  const message = (bytes: Uint8Array): string => errorOf(() => loadModelFile(bytes)).message
  const instruction = (name: string, x: number, n: number): number[] => [p.mark, p.text(name), p.int(x), p.int(n), p.tuple].flat()
  loadModelFile(file(p.text('__torch__.M.forward'), code([...p.mark, ...instruction('RET', 0, 0), ...p.tuple]))).close()
  t.match(message(file(p.text('f'))), /expected a tuple of 2 to 3/)
  t.match(message(file(p.int(1), p.emptyTuple)), /expected a text, found int 1/)
  t.match(message(file(p.text('f'), p.emptyTuple)), /expected a tuple of 5/)
  t.match(
    message(file(p.text('f'), code([...p.mark, ...instruction('JUMP', 0, 0), ...p.tuple]))),
    /expected the name of an instruction, found str "JUMP"/,
  )
  t.match(message(file(p.text('f'), code([...p.mark, ...instruction('RET', 0, -1), ...p.tuple]))), /expected an int from 0 to 65535/)
  t.end()
})
