import type { ZipArchive } from '../containers/zip/archive.js'
import { checkByteOrder, shortText } from '../reading/archive.js'
import { unsupported } from '../../program/file-error.js'
import { CONSTANTS, WEIGHTS } from './weights.js'

const ARCHIVE_VERSION = '0'
const MODELS = 'models/'
/** The name that torch.export.save gives to a program, and the method that it becomes. */
const [MODEL, FORWARD] = ['model', 'forward']
/** More programs than anybody saves together; each has a graph, and weights of its own. */
const MAX_PROGRAMS = 256

const isProgram = (name: string): boolean => name.startsWith(MODELS) && name.endsWith('.json')

/** A program of an archive. */
export interface ProgramRecord {
  readonly record: string
  /** What files of its weights are named by. */
  readonly name: string
  readonly method: string
}

/**
 * The programs of an archive: one is `forward`, as is that of torch.export.save; others are methods of their names. Throws UNSUPPORTED_FILE where there is none,
 * or where another version wrote the archive.
 */
export function programRecords(zip: ZipArchive): readonly ProgramRecord[] {
  if (zip.holds('serialized_exported_program.json'))
    throw unsupported(
      'this was written by PyTorch 2.7 or older; load it with torch.export.load there, and save it with PyTorch 2.8 or later',
    )
  const version = zip.holds('archive_version') ? shortText(zip, 'archive_version') : ARCHIVE_VERSION
  if (version !== ARCHIVE_VERSION)
    throw unsupported(`expected version ${ARCHIVE_VERSION} of the archive, found '${version}': it is newer than this runtime`)
  checkByteOrder(zip)
  const names = zip.recordNames()
  const records = names.filter(isProgram)
  if (records.length === 0) {
    const isCompiled = names.some((name) => name.startsWith('data/aotinductor/'))
    throw unsupported(
      isCompiled
        ? 'this is machine code of AOTInductor without its program; save the program with torch.export.save'
        : 'the archive holds no program (models/*.json); save one with torch.export.save',
    )
  }
  if (records.length > MAX_PROGRAMS) throw unsupported(`expected at most ${MAX_PROGRAMS} programs in an archive, found ${records.length}`)
  return records.map((record) => {
    const name = record.slice(MODELS.length, -'.json'.length)
    checkWeights(zip, name)
    return { record, name, method: records.length === 1 || name === MODEL ? FORWARD : methodOf(name, records) }
  })
}

function checkWeights(zip: ZipArchive, name: string): void {
  for (const folder of [WEIGHTS, CONSTANTS])
    if (zip.holds(`${folder}${name}.pt`))
      throw unsupported(
        'its weights are a pickle of an older PyTorch; load it with torch.export.load and save it with PyTorch 2.9 or later',
      )
}

function methodOf(name: string, records: readonly string[]): string {
  if (!/^[A-Za-z_]\w*$/.test(name) || (name === FORWARD && records.includes(`${MODELS}${MODEL}.json`)))
    throw unsupported(
      `the program '${name.slice(0, 100)}' is no name of a method; give the programs of an archive names of letters, digits and _`,
    )
  return name
}
