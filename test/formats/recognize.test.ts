import { gzipSync } from 'node:zlib'
import t from 'tap'
import { openSource } from '../../formats/containers/bytes.js'
import { OpenedFile } from '../../formats/containers/opened-file.js'
import { formatOf } from '../../formats/registry.js'
import { loadModule, PtliteError } from '../../src/index.js'
import { ptlite } from '../cli/in-process.js'
import { fixturePath } from '../module/fixtures.js'
import { zip } from '../module/zip-writer.js'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const padded = (text: string): Buffer => Buffer.concat([latin1(text), Buffer.alloc(64)])

/** A field of Protocol Buffers with bytes of less than 128. */
const field = (number: number, content: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), Buffer.from(content)])
const onnx = Buffer.concat([
  Buffer.from([0x08, 0x08]),
  field(2, 'pytorch'),
  field(3, '2.13.0'),
  field(7, field(2, 'main')),
  field(8, Buffer.from([0x10, 18])),
])

/** A tensor's name and place, as safetensors has them. */
const header = '{"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
const safetensors = Buffer.concat([Buffer.alloc(8), latin1(header), Buffer.alloc(4)])
safetensors.writeBigUInt64LE(BigInt(header.length))

/** A tar's header of a file of this name. */
function tar(name: string): Buffer {
  const block = Buffer.alloc(1024)
  block.write(name)
  block.write('ustar', 257)
  return block
}

const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 14212345\n'
const WHOLE = '\x80\x02ctorchvision.models.resnet\nResNet\nq\x00)\x81q\x01'
const STATE = '\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(X\x06\x00\x00\x00weightctorch._utils\n_rebuild_tensor_v2\n'

const FOREIGN: readonly (readonly [what: string, bytes: Uint8Array, code: string, message: RegExp])[] = [
  ['onnx', onnx, 'UNSUPPORTED_FILE', /an ONNX model: .*docs\/model-formats\.md/],
  ['onnx cut off', onnx.subarray(0, 24), 'UNSUPPORTED_FILE', /an ONNX model, and not whole/],
  ['saved_model.pb', Buffer.concat([Buffer.from([8, 1]), field(2, 'graph')]), 'UNSUPPORTED_FILE', /saved model of TensorFlow/],
  ['tflite', padded('\x1c\0\0\0TFL3'), 'UNSUPPORTED_FILE', /TensorFlow Lite model \(\.tflite\)/],
  ['ort', padded('\x1c\0\0\0ORTM'), 'UNSUPPORTED_FILE', /ONNX Runtime model/],
  ['safetensors', safetensors, 'UNSUPPORTED_FILE', /safetensors file.*load_file/],
  ['gguf', padded('GGUF\x03'), 'UNSUPPORTED_FILE', /GGUF/],
  ['h5', padded('\x89HDF\r\n\x1a\n'), 'UNSUPPORTED_FILE', /HDF5/],
  ['gzip', gzipSync('model'), 'UNSUPPORTED_FILE', /compressed by gzip.*gunzip/],
  ['zstd', padded('\x28\xb5\x2f\xfd'), 'UNSUPPORTED_FILE', /compressed by zstd/],
  ['xz', padded('\xfd7zXZ\0'), 'UNSUPPORTED_FILE', /compressed by xz/],
  ['lfs', latin1(POINTER), 'INVALID_FILE', /pointer of Git LFS in place of the file of 14212345 bytes.*git lfs pull/],
  ['html', latin1('\n <!DOCTYPE html>\n<html>'), 'INVALID_FILE', /a page \(HTML or XML\).*download/],
  ['html with a mark', latin1('\xef\xbb\xbf<HTML lang="en">'), 'INVALID_FILE', /a page/],
  ['xml', latin1('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'), 'INVALID_FILE', /a page/],
  ['text', latin1('Not Found\n'), 'INVALID_FILE', /found a text that begins with "Not Found"/],
  ['zeros', Buffer.alloc(4096), 'INVALID_FILE', /found zeros/],
  ['empty', Buffer.alloc(0), 'INVALID_FILE', /found an empty file/],
  ['npy', latin1('\x93NUMPY\x01\0'), 'UNSUPPORTED_FILE', /a NumPy array.*input/],
  [
    'npz',
    zip([
      { name: 'x.npy', data: latin1('x') },
      { name: 'y.npy', data: latin1('y') },
    ]),
    'UNSUPPORTED_FILE',
    /NumPy arrays \(\.npz\)/,
  ],
  ['png', padded('\x89PNG\r\n\x1a\n'), 'UNSUPPORTED_FILE', /PNG image/],
  ['pickle', latin1(STATE), 'UNSUPPORTED_FILE', /torch\.save.*load_state_dict.*torch\.jit\.script.*torch\.export\.save/],
  ['pickled module', latin1(WHOLE), 'UNSUPPORTED_FILE', /torch\.save of torchvision\.models\.resnet\.ResNet.*weights_only=False/],
  ['zip of a module', zip([{ name: 'm/data.pkl', data: latin1(WHOLE) }]), 'UNSUPPORTED_FILE', /of torchvision\.models\.resnet\.ResNet/],
  ['zip of a state_dict', zip([{ name: 'm/data.pkl', data: latin1(STATE) }]), 'UNSUPPORTED_FILE', /a state_dict or other values/],
  ['tar of torch.save', tar('sys_info'), 'UNSUPPORTED_FILE', /a tar of torch\.save/],
  ['tar', tar('model.ptl'), 'UNSUPPORTED_FILE', /tar archive.*unpack/],
  ['keras', zip([{ name: 'model.weights.h5', data: latin1('x') }]), 'UNSUPPORTED_FILE', /Keras/],
  ['zip of a file', zip([{ name: 'net/model.ptl', data: latin1('x') }]), 'UNSUPPORTED_FILE', /a zip with .*model\.ptl in it: unpack/],
]

for (const [what, bytes, code, message] of FOREIGN) {
  await t.test(`${what} is named, with what to do`, async (t) => {
    await t.rejects(loadModule(bytes), { code, message })
    await t.rejects(loadModule(bytes), { message: /^the model: / })
  })
}

await t.test('every command says so', async (t) => {
  const dir = t.testdir({ 'net.onnx': onnx })
  const path = `${dir}/net.onnx`
  const commands = [
    ['run', path],
    ['inspect', path],
    ['verify', path],
    ['bench', path],
    ['trace', path],
    ['compile', path],
    ['convert', path, '-o', `${dir}/x.ptl`],
    ['prune', path, '--sparsity', '0.5', '-o', `${dir}/x.ptl`],
  ]
  for (const command of commands) {
    const { status, stderr } = await ptlite(...command)
    t.equal(status, 1, command[0])
    t.match(stderr, /net\.onnx: this is an ONNX model: .*\(UNSUPPORTED_FILE\)/)
  }
})

await t.test('a file of PyTorch says the command for its path', async (t) => {
  for (const name of ['tensors.pt', 'legacy.pt'])
    await t.rejects(loadModule(fixturePath(name)), { message: new RegExp(`torch\\.load\\('.*${name.replace('.', '\\.')}'\\)`) })
})

await t.test('what begins like another format and is none stays unknown', async (t) => {
  for (const bytes of [
    [8, 9],
    [8, 0, 0x12, 0],
    [8, 1, 0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    [0xff, 0x7b, 1, 2, 3, 4, 5, 6, 0x7b, 0],
  ])
    await t.rejects(loadModule(Uint8Array.from(bytes)), { code: 'INVALID_FILE', message: /found a file that begins with/ })
})

await t.test('of every prefix of every one there is an error for files', async (t) => {
  let unexpected = 0
  for (const [, bytes] of FOREIGN) {
    for (let length = 0; length < bytes.length; length += bytes.length > 512 ? 61 : 1) {
      try {
        formatOf(new OpenedFile(openSource(bytes.subarray(0, length))))
        unexpected++
      } catch (error) {
        if (!(error instanceof PtliteError && error.code.endsWith('_FILE'))) unexpected++
      }
    }
  }
  t.equal(unexpected, 0)
})
