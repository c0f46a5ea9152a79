import { damaged, guarded, unsupported } from '../program/file-error.js'
import type { PtliteError } from '../runtime/error.js'
import type { ByteSource } from './containers/bytes.js'
import type { OpenedFile } from './containers/opened-file.js'
import { read as readFf } from './ff/read.js'
import { read as readPtl } from './ptl/read.js'
import { PLAN_MAGIC } from './ptlc/magic.js'
import { type AheadHeader, read as readPtlc } from './ptlc/read.js'
import type { ProgramReader } from './reading/parsed.js'

interface Row {
  /** Of its folder beside this file, and in selective builds of the feature `loader:NAME`, without which `read.ts` in there is left out. */
  readonly name: string
  /** What its files are made of, as `ptlite inspect` says it, and the end of their names. */
  readonly container: string
  readonly extension: string
  /** Whether a file is one, by its content: names and extensions say nothing. May look into a zip. */
  readonly matches: (file: OpenedFile) => boolean
}

/** Files with a program. */
export interface ProgramFormat extends Row {
  readonly holds: 'program'
  readonly read: ProgramReader
}

/** Files with plans, which the model that they were compiled from stands beside. */
export interface PlanFormat extends Row {
  readonly holds: 'plans'
  readonly read: (source: ByteSource) => AheadHeader
}

/** Files that hold nothing that can be run. */
interface RefusedFormat extends Row {
  readonly holds: 'nothing'
  readonly refusal: (file: OpenedFile) => PtliteError
}

export type Format = ProgramFormat | PlanFormat

/** All formats; a file is of the first one that it matches. */
const FORMATS: readonly (Format | RefusedFormat)[] = [
  {
    name: 'ptl',
    container: 'zip',
    extension: '.ptl',
    holds: 'program',
    matches: ({ zip }) => zip?.holds('bytecode.pkl') === true,
    read: readPtl,
  },
  {
    name: 'ff',
    container: 'flatbuffer',
    extension: '.ff',
    holds: 'program',
    matches: ({ head }) => head.startsWith('PTMF', 4),
    read: readFf,
  },
  {
    name: 'ptlc',
    container: 'compiled ahead',
    extension: '.ptlc',
    holds: 'plans',
    matches: ({ head }) => head === PLAN_MAGIC,
    read: readPtlc,
  },
  {
    name: 'torchscript',
    container: 'zip',
    extension: '.pt',
    holds: 'nothing',
    matches: ({ zip }) => zip !== null && (zip.holds('constants.pkl') || zip.holds('model.json')),
    refusal: ({ source }) =>
      unsupported(
        'this is a full TorchScript archive without mobile bytecode; export it again in Python: ' +
          `torch.jit.load('${source.path ?? 'scripted.pt'}')._save_for_lite_interpreter('model.ptl')`,
      ),
  },
  {
    name: 'values',
    container: 'zip',
    extension: '.pt',
    holds: 'nothing',
    matches: ({ zip }) => zip?.holds('data.pkl') === true,
    refusal: () => unsupported('this is a file of torch.save, which holds values and no program'),
  },
  {
    name: 'pickle',
    container: 'pickle',
    extension: '.pt',
    holds: 'nothing',
    matches: ({ head }) => head.startsWith('\x80\x02'),
    refusal: () =>
      unsupported(
        'this is a pickle of torch.save, which holds values and no program; export the module as described in docs/model-formats.md',
      ),
  },
  {
    name: 'zip',
    container: 'zip',
    extension: '.zip',
    holds: 'nothing',
    matches: ({ zip }) => zip !== null,
    refusal: () => damaged('a zip file without bytecode.pkl is not a module'),
  },
]

/** Those that can be run. */
export function runnableFormats(): Format[] {
  return FORMATS.filter((format) => format.holds !== 'nothing')
}

/** What a format is called: `zip (.ptl)`. */
export function labelOf(name: string): string {
  const { container, extension } = FORMATS.find((format) => format.name === name)!
  return `${container} (${extension})`
}

/** The path of a model without the end that the names of files with programs have. */
export function withoutExtension(path: string): string {
  const extension = FORMATS.find(({ holds, extension }) => holds === 'program' && path.endsWith(extension))?.extension ?? ''
  return path.slice(0, path.length - extension.length)
}

/** What a file can be run as; undefined where it cannot. Throws INVALID_FILE for a damaged zip. */
export function findFormat(file: OpenedFile): Format | undefined {
  const format = matching(file)
  return format?.holds === 'nothing' ? undefined : format
}

/** What a file is. Throws INVALID_FILE or UNSUPPORTED_FILE, with what to do, where it cannot be run. */
export function formatOf(file: OpenedFile): Format {
  const format = matching(file)
  return guarded(file.source.label, () => {
    if (format === undefined) throw damaged(`expected a ${programs().join(' or ')} module, found ${described(file.source.head)}`)
    if (format.holds === 'nothing') throw format.refusal(file)
    return format
  })
}

function matching(file: OpenedFile): Format | RefusedFormat | undefined {
  return guarded(file.source.label, () => FORMATS.find((format) => format.matches(file)))
}

/** Of files with programs: `.ptl (zip)`. */
function programs(): string[] {
  return FORMATS.filter(({ holds }) => holds === 'program').map(({ extension, container }) => `${extension} (${container})`)
}

function described(head: Buffer): string {
  return head.length === 0 ? 'an empty file' : `a file that begins with ${head.toString('hex')}`
}
