import { readFileSync } from 'node:fs'
import t from 'tap'
import { ByteSource } from '../../formats/containers/bytes.js'
import { ZipArchive } from '../../formats/containers/zip/archive.js'
import { writeZip } from '../../formats/containers/zip/writer.js'
import { loadModule, tensor } from '../../src/index.js'

/** Pickles in the place of those of torchao's tensors: nothing of what they name is run. */

const original = readFileSync('test/fixtures/torchao/int8-weight-only.pt2')
const archive = new ZipArchive(new ByteSource('the model', original))

/** The archive of a weight with another pickle. */
function weightWith(pickle: Uint8Array): Uint8Array {
  const weight = archive.archiveIn('data/weights/weight_0')
  return writeZip(
    weight.recordNames().map((name) => ({ name: `archive/${name}`, content: name === 'data.pkl' ? pickle : weight.contentOf(name) })),
  )
}

/** The model with another record in the place of its first weight. */
function modelWith(record: Uint8Array): Uint8Array {
  return writeZip(
    archive.recordNames().map((name) => ({
      name: `model/${name}`,
      content: name === 'data/weights/weight_0' ? record : archive.contentOf(name),
    })),
  )
}

const good = Buffer.from(archive.archiveIn('data/weights/weight_0').contentOf('data.pkl'))

/** The pickle with one text in the place of another; lengths of BINUNICODE are mended. */
function replaced(from: string, to: string): Buffer {
  const at = good.indexOf(from)
  if (at < 0) throw new Error(`the pickle has no '${from}'`)
  const before = Buffer.from(good.subarray(0, at))
  if (before.at(-5) === 0x58) before.writeUInt32LE(to.length, at - 4)
  return Buffer.concat([before, Buffer.from(to), good.subarray(at + from.length)])
}

const global = (module: string, name: string): Buffer => Buffer.from(`c${module}\n${name}\n`)
const pickle = (...parts: (Buffer | number[])[]): Buffer =>
  Buffer.concat([Buffer.from([0x80, 2]), ...parts.map((part) => Buffer.from(part)), Buffer.from('.')])
const text = (value: string): Buffer => Buffer.concat([Buffer.from([0x58, value.length, 0, 0, 0]), Buffer.from(value)])
const TUPLE1 = [0x85]
const REDUCE = [0x52]

const CASES: Readonly<Record<string, readonly [bytes: () => Uint8Array, code: string, message: RegExp]>> = {
  'a call of the system': [
    () => modelWith(weightWith(pickle(global('os', 'system'), text('echo'), TUPLE1, REDUCE))),
    'INVALID_FILE',
    /the global 'os\.system' is not one/,
  ],
  'a call of eval': [
    () => modelWith(weightWith(replaced('torch._tensor\n_rebuild_from_type_v2', 'builtins\neval'))),
    'INVALID_FILE',
    /the global 'builtins\.eval' is not one/,
  ],
  'a class of tensors that is not known': [
    () => modelWith(weightWith(replaced('torchao.quantization\nInt8Tensor', 'torchao.other\nEvilTensor'))),
    'UNSUPPORTED_FILE',
    /class torchao\.other\.EvilTensor.*unwrap_tensor_subclass/,
  ],
  'options in the place of a class of tensors': [
    () => modelWith(weightWith(replaced('torchao.quantization\nInt8Tensor', 'torchao.quantization\nPerRow'))),
    'INVALID_FILE',
    /expected a class of quantized tensors/,
  ],
  'a class of another library': [
    () => modelWith(weightWith(replaced('torchao.quantization\nInt8Tensor', 'other\nInt8Tensor'))),
    'INVALID_FILE',
    /the global 'other\.Int8Tensor' is not one/,
  ],
  'no attribute of that name': [() => modelWith(weightWith(replaced('qdata', 'other'))), 'INVALID_FILE', /has no attribute 'qdata'/],
  'an attribute that is no tensor': [
    () => modelWith(weightWith(replaced('block_size', 'qdata'))),
    'INVALID_FILE',
    /expected a tensor, found/,
  ],
  'no pickle': [() => modelWith(weightWith(Buffer.from('not a pickle'))), 'INVALID_FILE', /pickle/],
  'a pickle that ends in the middle': [() => modelWith(weightWith(good.subarray(0, 300))), 'INVALID_FILE', /ends in the middle/],
  'a plain value': [
    () => modelWith(weightWith(pickle([0x4e]))),
    'INVALID_FILE',
    /expected a tensor with the attribute 'qdata', found None/,
  ],
  'no archive': [() => modelWith(Buffer.from('PK')), 'INVALID_FILE', /zip|directory/],
  'an archive that is cut off': [
    () => {
      const whole = weightWith(good)
      return modelWith(whole.subarray(0, whole.length - 30))
    },
    'INVALID_FILE',
    /zip|directory/,
  ],
}

t.test('what is written anew loads', async (t) => {
  const model = await loadModule(modelWith(weightWith(good)))
  t.ok(model.forward(tensor(new Float32Array(64), [2, 32])))
  model.dispose()
})

for (const [name, [bytes, code, message]] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    await t.rejects(loadModule(bytes()), { name: 'PtliteError', code, message })
  })
}
