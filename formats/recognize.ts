import { damaged, unsupported } from '../program/file-error.js'
import { fieldsOf } from '../runtime/bytes.js'
import { latin1TextOf } from '../runtime/encoding.js'
import type { PtliteError } from '../runtime/error.js'
import type { OpenedFile } from './containers/opened-file.js'
import type { ZipArchive } from './containers/zip/archive.js'
import { describeProtobuf } from './recognize-protobuf.js'
import * as features from '../runtime/features.js'

/** Bytes that are looked at, beside what fields say where others stand. */
const LOOKED_AT = 1024
/** Of a pickle, whose globals come early. */
const PICKLE_LOOKED_AT = 2 ** 20

const EXPORT = 'export the model in Python, as described in docs/model-formats.md'
const ELSEWHERE = `this runtime runs what PyTorch writes: ${EXPORT}, from the PyTorch model that the file was made of`

/** Files that are told by what they begin with: `at` is where the text, of Latin-1, stands. */
const BEGINNINGS: readonly { readonly at: number; readonly text: string; readonly is: string; readonly advice: string }[] = [
  { at: 4, text: 'TFL3', is: 'a TensorFlow Lite model (.tflite)', advice: ELSEWHERE },
  { at: 4, text: 'ORTM', is: 'an ONNX Runtime model (.ort)', advice: ELSEWHERE },
  { at: 0, text: '\x89HDF\r\n\x1a\n', is: 'an HDF5 file, as Keras writes them (.h5)', advice: ELSEWHERE },
  {
    at: 0,
    text: 'GGUF',
    is: 'a GGUF file of llama.cpp, which holds weights and no program',
    advice: EXPORT,
  },
  { at: 0, text: '\x93NUMPY', is: 'a NumPy array (.npy)', advice: 'give it as an input, and name the model first' },
  { at: 0, text: '\x89PNG\r\n\x1a\n', is: 'a PNG image', advice: 'give it as an input, and name the model first' },
  { at: 0, text: '\xff\xd8\xff', is: 'a JPEG image', advice: 'give it as an input, and name the model first' },
  { at: 0, text: '%PDF-', is: 'a PDF document', advice: EXPORT },
  { at: 0, text: '\x7fELF', is: 'a program or library of Linux', advice: EXPORT },
  { at: 0, text: '\x1f\x8b', is: 'compressed by gzip', advice: 'unpack it first: gunzip, or tar -xzf for a .tar.gz' },
  { at: 0, text: '\x28\xb5\x2f\xfd', is: 'compressed by zstd', advice: 'unpack it first: zstd -d' },
  { at: 0, text: '\xfd7zXZ\0', is: 'compressed by xz', advice: 'unpack it first: xz -d' },
  { at: 0, text: 'BZh', is: 'compressed by bzip2', advice: 'unpack it first: bzip2 -d' },
  { at: 0, text: '7z\xbc\xaf\x27\x1c', is: 'a 7-Zip archive', advice: 'unpack it first' },
]

const PICKLED_STATE =
  'build the module in Python, net.load_state_dict(torch.load(PATH)), then ' +
  "torch.jit.script(net.eval()).save('model.pt') or torch.export.save(torch.export.export(net.eval(), (example,)), 'model.pt2')"
const PICKLED_MODULE =
  'its code is not in the file; where that can be imported, net = torch.load(PATH, weights_only=False), then ' +
  "torch.jit.script(net.eval()).save('model.pt') or torch.export.save(torch.export.export(net.eval(), (example,)), 'model.pt2')"

/**
 * The error for a file of a kind that people have at hand and that is no model, with what to do; undefined for files of no kind that is known. Its
 * content tells, a little of which is read. `expected` begins the messages for files of no format at all.
 */
export function recognize(file: OpenedFile, expected: string): PtliteError | undefined {
  if (!features.advice) return undefined
  const { source, zip } = file
  const path = source.path ?? 'model'
  if (zip !== null) return recognizeZip(zip, path)
  if (source.size === 0) return damaged(expected + 'an empty file: the export, copy or download that wrote it did not finish')
  const begin = source.read(0, Math.min(LOOKED_AT, source.size))
  const text = latin1TextOf(begin)
  const known = BEGINNINGS.find((one) => text.startsWith(one.text, one.at))
  if (known !== undefined) return unsupported(`this is ${known.is}: ${known.advice}`)
  return recognizeText(text, expected) ?? recognizePickle(file, text, path) ?? recognizeNumbers(file, begin)
}

function recognizeText(text: string, expected: string): PtliteError | undefined {
  if (text.startsWith('version https://git-lfs.github.com/spec/')) {
    const size = /^size (\d{1,15})$/m.exec(text)?.[1]
    return damaged(
      `this is a pointer of Git LFS in place of the file${size === undefined ? '' : ` of ${size} bytes`}: run 'git lfs install' and 'git lfs pull' in its repository`,
    )
  }
  const beginning = text.replace(/^(?:\xef\xbb\xbf)?\s*/, '').slice(0, 64)
  if (/^<(?:!doctype html|html|head|body|\?xml|error)\b/i.test(beginning))
    return damaged(
      'this is a page (HTML or XML) in place of the file: a download failed or asks to sign in; look at it, and download the file itself',
    )
  if (/^\0+$/.test(text)) return damaged(expected + 'zeros: the copy or download that wrote it did not finish')
  if (/^[\t\n\r\x20-\x7e]+$/.test(text))
    return damaged(`${expected}a text that begins with ${JSON.stringify(beginning.split(/[\r\n]/, 1)[0])}`)
  return undefined
}

function recognizePickle({ source }: OpenedFile, text: string, path: string): PtliteError | undefined {
  // of PyTorch 0.1: a tar of pickles
  if (text.startsWith('ustar', 257))
    return /^(?:\.\/)?(?:sys_info|pickle|storages|tensors)\0/.test(text)
      ? stateOf(path, 'tar')
      : unsupported('this is a tar archive: unpack it first (tar -xf)')
  if (!/^\x80[\x02-\x05]/.test(text)) return undefined
  return pickled(source.read(0, Math.min(PICKLE_LOOKED_AT, source.size)), path)
}

/** A pickle of torch.save: of weights, or of a module of the user's with weights in it. */
function pickled(pickle: Uint8Array, path: string): PtliteError {
  const text = latin1TextOf(pickle)
  // GLOBAL, and what protocol 4 has in its place
  const globals = [...text.matchAll(/c([A-Za-z_][\w.]*)\n([A-Za-z_]\w*)\n|\x8c.([A-Za-z_][\w.]*)\x94\x8c.([A-Za-z_]\w*)\x94\x93/g)]
  const classes = globals.map(([, module, name, other, otherName]) => [module ?? other!, name ?? otherName!] as const)
  const own = classes.find(
    ([module]) =>
      !/^(?:torch(?:\._utils|\._tensor|\.storage|\.serialization)?|collections|builtins|__builtin__|_codecs|numpy(?:\..*)?)$/.test(module),
  )
  if (own === undefined) return stateOf(path, 'pickle')
  return unsupported(
    `this is a pickle of torch.save of ${own.join('.')}, which holds values and no program: ${PICKLED_MODULE.replace('PATH', quoted(path))}`,
  )
}

function stateOf(path: string, container: string): PtliteError {
  return unsupported(
    `this is a ${container} of torch.save, a state_dict or other values, and no program: ${PICKLED_STATE.replace('PATH', quoted(path))}`,
  )
}

/** As Python has it. */
function quoted(path: string): string {
  return `'${path.replaceAll(/['\\]/g, '\\$&')}'`
}

/** Files that begin with numbers. */
function recognizeNumbers({ source }: OpenedFile, begin: Uint8Array): PtliteError | undefined {
  if (begin.length > 8 && begin[8] === 0x7b) {
    const length = fieldsOf(begin).getBigUint64(0, true)
    if (length >= 2n && length <= BigInt(source.size - 8))
      return unsupported(
        "this is a safetensors file, which holds weights and no program: build the module in Python, net.load_state_dict(safetensors.torch.load_file(PATH)), then torch.jit.script(net.eval()).save('model.pt')".replace(
          'PATH',
          quoted(source.path ?? 'model.safetensors'),
        ),
      )
  }
  const is = describeProtobuf(source)
  return is === undefined ? undefined : unsupported(`this is ${is}: ${ELSEWHERE}`)
}

function recognizeZip(zip: ZipArchive, path: string): PtliteError | undefined {
  // refused with advice of their own
  if (zip.holds('model.json')) return undefined
  const names = zip.recordNames()
  if (zip.holds('data.pkl')) return pickled(zip.contentOf('data.pkl').subarray(0, PICKLE_LOOKED_AT), path)
  if (names.length > 0 && names.every((name) => name.endsWith('.npy')))
    return unsupported('these are NumPy arrays (.npz): give them as an input, and name the model first')
  if (zip.holds('model.weights.h5')) return unsupported(`this is a Keras model (.keras): ${ELSEWHERE}`)
  const model = names.find((name) => /\.(?:ptl|pt|pth|pt2|ff|ptlc)$/.test(name))
  if (model !== undefined) return unsupported(`this is a zip with ${model} in it: unpack it first, and name that`)
  return undefined
}
