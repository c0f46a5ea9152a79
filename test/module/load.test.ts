import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openSource } from '../../formats/containers/bytes.js'
import { loadModelFile } from '../../formats/read.js'
import { ZipArchive } from '../../formats/containers/zip/archive.js'
import { writeTensor } from '../../runtime/tensor/data.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { viewOf } from '../../runtime/tensor/tensor.js'
import { ScriptObject } from '../../runtime/tensor/value.js'
import { attribute, errorOf, fixtureBytes, fixturePath, load, numbers, tensorAttribute } from './fixtures.js'
import { zip } from './zip-writer.js'

const WEIGHT = [0, 1, 2, 3, 4, 5]

for (const name of ['linear.ptl', 'linear.ff']) {
  t.test(`${name} from a path, bytes and a buffer`, (t) => {
    const bytes = fixtureBytes(name)
    for (const source of [fixturePath(name), bytes, bytes.buffer as ArrayBuffer]) {
      const file = loadModelFile(source)
      t.equal(file.format, name.endsWith('.ff') ? 'ff' : 'ptl')
      t.equal(file.bytecodeVersion, name.endsWith('.ff') ? 9 : 8)
      t.equal(file.root.typeName, '__torch__.Linear')
      const fc = attribute(file.root, 'fc')
      if (!(fc instanceof ScriptObject)) throw new Error('fc is a submodule')
      const weight = tensorAttribute(fc, 'weight')
      t.same(weight.shape, [2, 3])
      t.same(numbers(weight), WEIGHT)
      t.same(numbers(tensorAttribute(fc, 'bias')), [0.5, -0.5])
      t.equal(weight.pinned, true)
      file.close()
    }
    t.end()
  })

  t.test(`${name}: functions and extra files`, (t) => {
    const file = load(name)
    const [forward] = file.functions
    t.equal(file.functions.length, 1)
    t.equal(forward!.name, '__torch__.Linear.forward')
    t.equal(forward!.method, 'forward')
    t.equal(forward!.className, '__torch__.Linear')
    t.same(forward!.operators, [{ name: 'aten::linear', overload: '', argCount: 3 }])
    t.same(
      forward!.schema!.args.map((arg) => [arg.name, arg.type, arg.default]),
      [
        ['self', '__torch__.Linear', undefined],
        ['x', 'Tensor', undefined],
      ],
    )
    t.same(forward!.schema!.returns, [{ type: 'Tensor' }])
    t.same([...file.extraFiles.keys()].sort(), ['folder/with space.bin', 'labels.txt'])
    t.equal(Buffer.from(file.extraFiles.get('labels.txt')!).toString(), 'cat\ndog\n')
    t.same([...file.extraFiles.get('folder/with space.bin')!], [1, 2])
    file.close()
    t.end()
  })

  t.test(`${name}: weights on disk are used in place, and writes stay here`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ptlite-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'model')
    writeFileSync(path, fixtureBytes(name))
    const file = loadModelFile(path)
    const weight = tensorAttribute(attribute(file.root, 'fc') as ScriptObject, 'weight')
    t.ok(Storage.keptBy(weight.storage), 'the storage is inside of the mapping')
    writeTensor(weight, new Float32Array(6).fill(9))
    t.same(numbers(weight), [9, 9, 9, 9, 9, 9])
    t.same(new Uint8Array(readFileSync(path)), fixtureBytes(name))
    const again = loadModelFile(path)
    t.same(numbers(tensorAttribute(attribute(again.root, 'fc') as ScriptObject, 'weight')), WEIGHT)
    file.close()
    again.close()
    t.end()
  })

  t.test(`${name}: close`, (t) => {
    const file = load(name)
    const fc = attribute(file.root, 'fc') as ScriptObject
    const weight = tensorAttribute(fc, 'weight')
    const bias = tensorAttribute(fc, 'bias')
    const kept = viewOf(weight, [3], [1], 3)
    file.close()
    file.close()
    t.same(numbers(kept), [3, 4, 5], 'a view keeps its memory')
    t.equal(errorOf(() => numbers(bias)).code, 'DISPOSED')
    kept.release()
    t.equal(errorOf(() => numbers(kept)).code, 'DISPOSED')
    t.end()
  })
}

t.test('older bytecode', (t) => {
  const today = load('control.ptl')
  for (const version of [4, 5, 6, 7]) {
    const file = load(`control-v${version}.ptl`)
    t.equal(file.bytecodeVersion, version)
    t.same(
      file.functions.map((fn) => fn.name),
      today.functions.map((fn) => fn.name),
    )
    const counts = new Set(file.functions.flatMap((fn) => fn.operators.map((op) => op.argCount)))
    if (version < 6) t.same([...counts], [-1])
    else t.notOk(counts.size === 1 && counts.has(-1))
    file.close()
  }
  today.close()
  t.end()
})

t.test('defaults of arguments', (t) => {
  for (const name of ['control.ptl', 'control.ff']) {
    const file = load(name)
    const args = (method: string): unknown[] =>
      file.functions.find((fn) => fn.method === method && fn.className === file.root.typeName)!.schema!.args.map((arg) => arg.default)
    t.same(args('forward'), [undefined, undefined, null], 'None is a default of an optional argument only')
    t.same(args('count_up'), [undefined, 1])
    file.close()
  }
  t.end()
})

t.test('archives that were unpacked and zipped again', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const archive = new ZipArchive(openSource(fixtureBytes('linear.ptl')))
  const records = [...archive.recordNames()].map((name) => ({ name: `other name/${name}`, data: archive.contentOf(name) }))
  for (const deflate of [false, true]) {
    const path = join(folder, `deflated-${deflate}`)
    // the first record shifts what follows to odd offsets
    writeFileSync(path, zip([{ name: 'other name/', data: new Uint8Array(0) }, ...records.map((record) => ({ ...record, deflate }))]))
    const file = loadModelFile(path)
    const fc = attribute(file.root, 'fc') as ScriptObject
    const weight = tensorAttribute(fc, 'weight')
    t.same(numbers(weight), WEIGHT)
    t.same(numbers(tensorAttribute(fc, 'bias')), [0.5, -0.5])
    t.equal(weight.address % weight.itemSize, 0)
    file.close()
  }
  t.end()
})
