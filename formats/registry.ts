import { guarded } from '../program/file-error.js'
import { type ChunkName, chunkReady, type Waiting } from '../runtime/chunk.js'
import type { OpenedFile } from './containers/opened-file.js'
import { codecs } from './lazy.js'
import { read as readPtl } from './ptl/read.js'
import { PLAN_MAGIC } from './ptlc/magic.js'
import type { ProgramReader } from './reading/parsed.js'
import { refuse } from './refuse.js'
import type { ProgramWriter } from './writing/program-writer.js'
import * as features from '../runtime/features.js'
import { missingReader } from './missing-reader.js'

interface Row {
  /** Of its folder beside this file, and in runtime/features.ts, without which a build has no reader of them. */
  readonly name: string
  /** The end of the names of its files. */
  readonly extension: string
  /** Other ends that names of its files have. */
  readonly otherExtensions?: readonly string[]
  /** What its files are made of, as `ptlite inspect` says it. */
  readonly container: string
  /** What its files are, of one kind with those of other formats where that is so. */
  readonly kind: string
  /** The folder of test/hostile whose mutants are made of its files. */
  readonly fuzz: string
  /** Whether a file is one, by its content: names and extensions say nothing. May look into a zip. */
  readonly matches: (file: OpenedFile) => boolean
  /** Chunks that its reader is in and comes to, beside those of all models. */
  readonly chunks: readonly ChunkName[]
}

/** Files with a program. */
export interface ProgramFormat extends Row {
  readonly holds: 'program'
  readonly read: ProgramReader
  /** The end of the names of files with data that belong to its files, of which one may stand beside a model under its name. */
  readonly dataExtension?: string
  /** Writes a file with a program, whatever format that is from; absent where only PyTorch writes them. */
  readonly write?: ProgramWriter
}

/** Files with plans, which the model that they were compiled from stands beside. */
export interface PlanFormat extends Row {
  readonly holds: 'plans'
}

export type Format = ProgramFormat | PlanFormat

/** Code is written for these, of operators by name and arguments. */
const WITH_OPERATORS: readonly ChunkName[] = ['formats', 'more-operators']

/** All formats; a file is of the first one that it matches. */
const FORMATS: readonly Format[] = [
  {
    name: 'ptl',
    extension: '.ptl',
    container: 'zip',
    kind: 'mobile modules',
    fuzz: 'files',
    holds: 'program',
    matches: ({ zip }) => zip?.holds('bytecode.pkl') === true,
    chunks: [],
    read: features.ptl ? readPtl : () => missingReader('.ptl'),
    ...(features.writers ? { write: (program, states) => codecs().writePtl(program, states) } : {}),
  },
  {
    name: 'pt2',
    extension: '.pt2',
    container: 'program of torch.export',
    kind: 'programs of torch.export',
    fuzz: 'pt2',
    holds: 'program',
    // the second record is of versions that the reader refuses with advice
    matches: ({ zip }) => zip !== null && ['archive_format', 'serialized_exported_program.json'].some((record) => zip.holds(record)),
    chunks: WITH_OPERATORS,
    read: (...args) => codecs().readPt2(...args),
  },
  {
    name: 'torchscript',
    extension: '.pt',
    otherExtensions: ['.pth'],
    container: 'zip with code',
    kind: 'TorchScript archives',
    fuzz: 'files',
    holds: 'program',
    matches: ({ zip }) => zip?.holds('constants.pkl') === true,
    chunks: WITH_OPERATORS,
    read: (...args) => codecs().readTorchscript(...args),
  },
  {
    name: 'ff',
    extension: '.ff',
    container: 'flatbuffer',
    kind: 'mobile modules',
    fuzz: 'files',
    holds: 'program',
    matches: ({ head }) => head.startsWith('PTMF', 4),
    chunks: ['formats'],
    read: (...args) => codecs().readFf(...args),
    ...(features.writers ? { write: (program, states) => codecs().writeFf(program, states) } : {}),
  },
  {
    name: 'pte',
    extension: '.pte',
    otherExtensions: ['.bpte'],
    container: 'program of ExecuTorch',
    kind: 'programs of ExecuTorch',
    fuzz: 'pte',
    holds: 'program',
    // the second is a program with its test cases
    matches: ({ head }) => head.startsWith('ET12', 4) || head.startsWith('BP08', 4),
    chunks: WITH_OPERATORS,
    read: (...args) => codecs().readPte(...args),
    dataExtension: '.ptd',
    ...(features.writers ? { write: (...args) => codecs().writePte(...args) } : {}),
  },
  {
    name: 'ptlc',
    extension: '.ptlc',
    container: 'compiled ahead',
    kind: 'compiled models',
    fuzz: 'ptlc',
    holds: 'plans',
    matches: ({ head }) => head === PLAN_MAGIC,
    chunks: ['plans'],
  },
]

/** All formats, in the order in which they are looked for. */
export function formats(): readonly Format[] {
  return FORMATS
}

/** Waits for the reader of a format. */
export function formatReady({ chunks }: Format): Waiting {
  const waiting = chunks.map(chunkReady).filter((other) => other !== undefined)
  return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined)
}

/** What a format is called: `zip (.ptl)`. */
export function labelOf(name: string): string {
  const { extension, container } = FORMATS.find((format) => format.name === name)!
  return `${container} (${extension})`
}

/** All kinds of files with the ends of their names: `mobile modules (.ptl, .ff)`. */
export function kinds(): string[] {
  return [...new Set(FORMATS.map(({ kind }) => kind))].map((kind) => {
    const extensions = FORMATS.filter((format) => format.kind === kind).map(({ extension }) => extension)
    return `${kind} (${extensions.join(', ')})`
  })
}

/** The ends of names of files with programs: `.ptl, .pt2 or .ff`; `among` says of which. */
export function extensionsText(among: (format: ProgramFormat) => boolean = () => true): string {
  const extensions = FORMATS.filter((format): format is ProgramFormat => format.holds === 'program' && among(format)).map(
    ({ extension }) => extension,
  )
  return extensions.length === 1 ? extensions[0]! : `${extensions.slice(0, -1).join(', ')} or ${extensions.at(-1)!}`
}

/** Formats that `ptlite convert` writes. */
export function writableFormats(): readonly (ProgramFormat & { readonly write: ProgramWriter })[] {
  return FORMATS.filter((format) => format.holds === 'program' && format.write !== undefined) as never
}

/** The path of a model without the end that the names of files with programs have. */
export function withoutExtension(path: string): string {
  const ends = FORMATS.flatMap(({ holds, extension, otherExtensions = [] }) => (holds === 'program' ? [extension, ...otherExtensions] : []))
  return path.slice(0, path.length - (ends.find((end) => path.endsWith(end)) ?? '').length)
}

/** The format of a file; undefined for one that cannot be run. Throws INVALID_FILE for a damaged zip. */
export function findFormat(file: OpenedFile): Format | undefined {
  return guarded(file.source.label, () => FORMATS.find((format) => format.matches(file)))
}

/** The format of a file. Throws INVALID_FILE or UNSUPPORTED_FILE, with what to do, where it cannot be run. */
export function formatOf(file: OpenedFile): Format {
  return findFormat(file) ?? refuse(file, FORMATS)
}
