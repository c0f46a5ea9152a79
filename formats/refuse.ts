import { damaged, guarded, unsupported } from '../program/file-error.js'
import type { OpenedFile } from './containers/opened-file.js'
import type { ZipArchive } from './containers/zip/archive.js'
import { recognize } from './recognize.js'

/** What a message says of a format. */
interface Named {
  readonly name: string
  readonly holds: 'program' | 'plans'
  readonly extension: string
  readonly container: string
}

/** Throws INVALID_FILE or UNSUPPORTED_FILE with what a file is that is of none of the formats. */
export function refuse(file: OpenedFile, formats: readonly Named[]): never {
  return guarded(file.source.label, () => {
    const { source, zip } = file
    const expected = `expected a ${programs(formats)} module, found `
    const known = recognize(file, expected)
    if (known !== undefined) throw known
    if (zip !== null) refuseZip(zip, source.path ?? 'scripted.pt')
    throw damaged(expected + described(source.head))
  })
}

function refuseZip(zip: ZipArchive, path: string): never {
  if (zip.holds('model.json')) {
    throw unsupported(
      'this is a TorchScript archive from before PyTorch 1.4; export it again in Python: ' + `torch.jit.load('${path}').save('model.pt')`,
    )
  }
  if (zip.holds('data.pkl')) throw unsupported('this is a file of torch.save, which holds values and no program')
  throw damaged('a zip file without bytecode.pkl and constants.pkl is not a module')
}

/** Of files with programs: `.ptl (zip), .pt (zip with code) or .ff (flatbuffer)`. */
function programs(formats: readonly Named[]): string {
  const names = formats.filter(({ holds }) => holds === 'program').map(({ extension, container }) => `${extension} (${container})`)
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)!}`
}

function described(head: Uint8Array): string {
  return head.length === 0
    ? 'an empty file'
    : `a file that begins with ${[...head].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
