import type { FunctionCode } from '../../program/code.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { OpenedFile } from '../containers/opened-file.js'
import { debugHandlesOf, PickledDebugInfo } from './debug.js'
import { damaged, guarded, integerOf, tupleOf, unexpected, unsupported } from '../../program/file-error.js'
import { checkVersions, type ParsedProgram, type Reading } from '../reading/parsed.js'
import { type ModuleMeaning, moduleGlobals } from '../reading/pickle-globals.js'
import { readFunction } from './code.js'
import { scalarTypeSize } from '../reading/tensor-pool.js'
import { unpickle } from '../containers/pickle/unpickler.js'
import type { ZipArchive } from '../containers/zip/archive.js'

const BYTECODE = 'bytecode.pkl'
const EXTRA = 'extra/'
const DEBUG_HANDLES = 'mobile_debug_handles.pkl'
const CALL_STACKS = 'callstack_debug_map.pkl'
/** What elements of any type need: tensors of several may view one storage. */
const ALIGNMENT = 8

/** Reads a .ptl archive. */
export function read(file: OpenedFile, { pool, budget }: Reading): ParsedProgram {
  const zip = file.zip!
  const names = zip.recordNames()
  /** A short record that is text. */
  const textOf = (record: string): string => zip.contentOf(record).toString('latin1', 0, 40).trim()
  // newer files say in which order the bytes of their storages are
  const order = zip.holds('byteorder') ? textOf('byteorder') : 'little'
  if (order !== 'little') throw unsupported(`expected storages in little-endian byte order, found '${order}'`)

  let setStates: ReadonlyMap<string, FunctionCode> = new Map()
  const storageOf = storagesOf(zip)
  const readRecord = <T>(
    record: string,
    folder: string,
    use: (value: Value, meaning: ModuleMeaning) => T,
    opcodes?: typeof OPCODE_BY_NAME,
  ): T =>
    guarded(record, () => {
      const meaning = moduleGlobals(pool, (key, scalarType, count) => storageOf(folder + key, scalarType, count), setStates, budget)
      return use(unpickle(zip.contentOf(record), { ...meaning, opcodes }, budget), meaning)
    })

  // constants share their storages with TorchScript, but in version 4, which has a folder of its own
  const folder = names.some((name) => name.includes('bytecode/')) ? 'bytecode/' : 'constants/'
  const [version, ...codes] = readRecord(BYTECODE, folder, (value) => tupleOf(value), OPCODE_BY_NAME)
  const operators = textOf(zip.holds('.data/version') ? '.data/version' : 'version')
  if (!/^\d{1,9}$/.test(operators)) throw damaged(`operator version: expected a number, found '${operators}'`)
  // version 3 had no number in front
  const bytecodeVersion = version instanceof Tuple ? 3 : integerOf(version)
  const operatorVersion = Number(operators)
  checkVersions(bytecodeVersion, operatorVersion)
  const handles = zip.holds(DEBUG_HANDLES) ? debugHandlesOf(zip.contentOf(DEBUG_HANDLES), budget) : undefined
  const functions = guarded(BYTECODE, () => codes.map((code) => readFunction(code, handles, budget)))
  setStates = new Map(functions.filter((fn) => fn.method === '__setstate__').map((fn) => [fn.className, fn]))
  return {
    bytecodeVersion,
    operatorVersion,
    functions,
    extraFiles: new Map(
      names
        .filter((name) => name.startsWith(EXTRA) && name !== EXTRA)
        .map((name) => [name.slice(EXTRA.length), Uint8Array.from(zip.contentOf(name))]),
    ),
    debug: zip.holds(CALL_STACKS)
      ? new PickledDebugInfo(functions, () => ({
          callStacks: zip.contentOf(CALL_STACKS),
          ranges: names.filter((name) => name.startsWith('code/') && name.endsWith('.debug_pkl')).map((name) => zip.contentOf(name)),
          bytes: file.source.size,
        }))
      : undefined,
    readState: () =>
      readRecord('data.pkl', 'data/', (root, { pending }) => {
        if (!(root instanceof ScriptObject)) throw unexpected('the module', root)
        return { root, pending }
      }),
  }
}

/** Gives the storages of an archive by record: a record that is named twice is one storage. */
function storagesOf(zip: ZipArchive): (record: string, scalarType: number, count: number) => Storage {
  const known = new Map<string, Storage>()
  return (record, scalarType, count) => {
    const itemSize = scalarTypeSize(scalarType) ?? 1
    let storage = known.get(record)
    if (storage === undefined) {
      // records of empty storages may be absent
      storage = count === 0 && !zip.holds(record) ? Storage.holding(new Uint8Array(0)) : zip.storageAt(record, ALIGNMENT)
      known.set(record, storage)
    }
    if (count * itemSize > storage.byteLength)
      throw damaged(`expected ${count * itemSize} bytes in the record ${record}, found ${storage.byteLength}`)
    return storage
  }
}
