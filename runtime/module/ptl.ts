import type { FunctionCode } from '../interpreter/code.js'
import { OPCODE_BY_NAME } from '../interpreter/opcodes.js'
import type { Storage } from '../tensor/storage.js'
import { ScriptObject, type Value } from '../tensor/value.js'
import { storageFrom, type ByteSource } from './bytes.js'
import { debugHandlesOf, PickledDebugInfo } from './debug.js'
import { damaged, guarded, integerOf, tupleOf, unexpected, unsupported } from './file-error.js'
import { checkVersions, type ParsedModule } from './parsed.js'
import { type ModuleMeaning, moduleGlobals } from './pickle-globals.js'
import { readFunction } from './ptl-code.js'
import { scalarTypeSize, type TensorPool } from './tensor-pool.js'
import { unpickle } from './unpickler.js'
import { ZipArchive } from './zip.js'

const BYTECODE = 'bytecode.pkl'
const EXTRA = 'extra/'
const DEBUG_HANDLES = 'mobile_debug_handles.pkl'
const CALL_STACKS = 'callstack_debug_map.pkl'

/** Reads a .ptl archive. Throws UNSUPPORTED_FILE for TorchScript archives without bytecode. */
export function readArchive(source: ByteSource, pool: TensorPool): ParsedModule {
  const zip = new ZipArchive(source)
  const names = zip.names()
  if (!zip.has(BYTECODE)) refuse(zip, source.path ?? 'scripted.pt')
  // newer files say in which order the bytes of their storages are
  const order = zip.has('byteorder') ? textOf(zip, 'byteorder') : 'little'
  if (order !== 'little') throw unsupported(`expected storages in little-endian byte order, found '${order}'`)

  let setStates: ReadonlyMap<string, FunctionCode> = new Map()
  const storageOf = storagesOf(zip, source)
  const read = <T>(record: string, folder: string, use: (value: Value, globals: ModuleMeaning) => T): T =>
    guarded(record, () => {
      const globals = moduleGlobals(
        pool,
        (key, scalarType, count) => storageOf(folder + key, scalarType, count),
        (className) => setStates.get(className),
      )
      return use(unpickle(zip.read(record), record === BYTECODE ? { ...globals, opcodes: OPCODE_BY_NAME } : globals), globals)
    })

  // constants share their storages with TorchScript, but in version 4, which has a folder of its own
  const folder = names.some((name) => name.includes('bytecode/')) ? 'bytecode/' : 'constants/'
  const [version, ...codes] = read(BYTECODE, folder, (value) => tupleOf(value))
  // version 3 had no number in front
  const bytecodeVersion = version !== undefined && typeof version !== 'number' ? 3 : integerOf(version)
  const operatorVersion = readOperatorVersion(zip)
  checkVersions(bytecodeVersion, operatorVersion)
  let functions = guarded(BYTECODE, () => codes.map(readFunction))
  if (zip.has(DEBUG_HANDLES)) {
    const handles = debugHandlesOf(zip.read(DEBUG_HANDLES))
    functions = functions.map((fn) => ({ ...fn, debugHandles: handles.get(fn.name) }))
  }
  setStates = new Map(functions.filter((fn) => fn.method === '__setstate__').map((fn) => [fn.className, fn]))
  return {
    kind: 'ptl',
    bytecodeVersion,
    operatorVersion,
    functions,
    extraFiles: new Map(
      names.flatMap((name) => (name.startsWith(EXTRA) && name !== EXTRA ? [[name.slice(EXTRA.length), zip.read(name)] as const] : [])),
    ),
    debug: zip.has(CALL_STACKS)
      ? new PickledDebugInfo(functions, () => ({
          callStacks: zip.read(CALL_STACKS),
          ranges: names.filter((name) => name.startsWith('code/') && name.endsWith('.debug_pkl')).map((name) => zip.read(name)),
        }))
      : undefined,
    readState: () =>
      read('data.pkl', 'data/', (root, { pending }) => {
        if (!(root instanceof ScriptObject)) throw unexpected('the module', root)
        return { root, pending }
      }),
  }
}

/** Archives without bytecode. */
function refuse(zip: ZipArchive, path: string): never {
  if (zip.has('constants.pkl') || zip.has('model.json')) {
    throw unsupported(
      'this is a full TorchScript archive without mobile bytecode; export it again in Python: ' +
        `torch.jit.load('${path}')._save_for_lite_interpreter('model.ptl')`,
    )
  }
  if (zip.has('data.pkl')) throw unsupported('this is a file of torch.save, which holds values and no program')
  throw damaged('a zip file without bytecode.pkl is not a module')
}

/** A short record that is text. */
function textOf(zip: ZipArchive, record: string): string {
  return String.fromCharCode(...zip.read(record).subarray(0, 40)).trim()
}

function readOperatorVersion(zip: ZipArchive): number {
  const text = textOf(zip, zip.has('.data/version') ? '.data/version' : 'version')
  if (!/^\d{1,9}$/.test(text)) throw damaged(`operator version: expected a number, found '${text}'`)
  return Number(text)
}

/** Gives the storages of an archive by record: a record that is named twice is one storage. */
function storagesOf(zip: ZipArchive, source: ByteSource): (record: string, scalarType: number, count: number) => Storage {
  const known = new Map<string, Storage>()

  const open = (record: string, itemSize: number): Storage => {
    const place = zip.locate(record)
    return place === null ? storageFrom(zip.read(record)) : source.storageAt(place.offset, place.length, itemSize)
  }

  return (record, scalarType, count) => {
    const itemSize = scalarTypeSize(scalarType) ?? 1
    // records of empty storages may be absent
    const storage = known.get(record) ?? (count === 0 && !zip.has(record) ? storageFrom(new Uint8Array(0)) : open(record, itemSize))
    known.set(record, storage)
    if (count * itemSize > storage.byteLength)
      throw damaged(`expected ${count * itemSize} bytes in the record ${record}, found ${storage.byteLength}`)
    return storage
  }
}
