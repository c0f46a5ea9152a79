import type { FunctionCode } from '../interpreter/code.js'
import type { Storage } from '../tensor/storage.js'
import { ScriptObject, type Value } from '../tensor/value.js'
import { storageFrom, type ByteSource } from './bytes.js'
import { debugHandlesOf, type DebugRecords, PickledDebugInfo } from './debug.js'
import { damaged, describe, integerOf, tupleOf, unsupported } from './file-error.js'
import { type ModuleState, type ParsedModule, versionProblem } from './parsed.js'
import { ModuleGlobals } from './pickle-globals.js'
import { readFunctions } from './ptl-code.js'
import { scalarTypeSize, type TensorPool } from './tensor-pool.js'
import { unpickle } from './unpickler.js'
import { ZipArchive } from './zip.js'

const EXTRA = 'extra/'

/** Reads a .ptl archive. Throws UNSUPPORTED_FILE for TorchScript archives without bytecode. */
export function readArchive(source: ByteSource, pool: TensorPool): ParsedModule {
  const zip = new ZipArchive(source)
  const { label } = source
  if (!zip.has('bytecode.pkl')) throw withoutBytecode(zip, label, source.path ?? 'scripted.pt')

  checkByteOrder(zip, label)

  const storages = new RecordStorages(zip, source)
  let setStates: ReadonlyMap<string, FunctionCode> = new Map()
  const read = (record: string, folder: string): { value: Value; globals: ModuleGlobals } => {
    const globals = new ModuleGlobals(
      `${label}, ${record}`,
      pool,
      (key, scalarType, count) => storages.get(folder + key, scalarType, count),
      (className) => setStates.get(className),
    )
    return { value: unpickle(zip.read(record), globals), globals }
  }

  const bytecode = tupleOf(read('bytecode.pkl', constantsFolder(zip)).value, `${label}, bytecode.pkl`)
  // version 3 had no number in front
  const bytecodeVersion = bytecode.length > 0 && typeof bytecode[0] !== 'number' ? 3 : integerOf(bytecode[0], `${label}, bytecode version`)
  const operatorVersion = readOperatorVersion(zip, label)
  const problem = versionProblem(bytecodeVersion, operatorVersion)
  if (problem !== undefined) throw unsupported(`${label}: ${problem}`)

  const functions = withDebugHandles(zip, label, readFunctions(bytecode, `${label}, bytecode.pkl`))
  setStates = new Map(functions.filter((fn) => fn.method === '__setstate__').map((fn) => [fn.className, fn]))
  return {
    kind: 'ptl',
    bytecodeVersion,
    operatorVersion,
    functions,
    extraFiles: readExtraFiles(zip),
    debug: zip.has('callstack_debug_map.pkl') ? new PickledDebugInfo(functions, () => readDebugRecords(zip), label) : undefined,
    readState: (): ModuleState => {
      const { value, globals } = read('data.pkl', 'data/')
      if (!(value instanceof ScriptObject)) throw damaged(`${label}, data.pkl: expected the module, found ${describe(value)}`)
      return { root: value, pending: globals.pending }
    },
  }
}

function withoutBytecode(zip: ZipArchive, label: string, path: string): Error {
  if (zip.has('constants.pkl') || zip.has('model.json')) {
    return unsupported(
      `${label}: this is a full TorchScript archive without mobile bytecode; export it again in Python: ` +
        `torch.jit.load('${path}')._save_for_lite_interpreter('model.ptl')`,
    )
  }
  if (zip.has('data.pkl')) return unsupported(`${label}: this is a file of torch.save, which holds values and no program`)
  return damaged(`${label}: a zip file without bytecode.pkl is not a module`)
}

/** Constants share their storages with TorchScript, but in version 4, which has a folder of its own. */
function constantsFolder(zip: ZipArchive): string {
  for (const name of zip.names()) if (name.includes('bytecode/')) return 'bytecode/'
  return 'constants/'
}

/** Newer files say in which order the bytes of their storages are. */
function checkByteOrder(zip: ZipArchive, label: string): void {
  const order = zip.has('byteorder') ? Buffer.from(zip.read('byteorder')).toString('latin1').trim() : 'little'
  if (order !== 'little') throw unsupported(`${label}: expected storages in little-endian byte order, found '${order.slice(0, 40)}'`)
}

function readOperatorVersion(zip: ZipArchive, label: string): number {
  const record = zip.has('.data/version') ? '.data/version' : 'version'
  const text = Buffer.from(zip.read(record)).toString('latin1').trim()
  if (!/^\d{1,9}$/.test(text)) throw damaged(`${label}, ${record}: expected a number, found '${text.slice(0, 40)}'`)
  return Number(text)
}

function readExtraFiles(zip: ZipArchive): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (const name of zip.names())
    if (name.startsWith(EXTRA) && name.length > EXTRA.length) files.set(name.slice(EXTRA.length), zip.read(name))
  return files
}

function withDebugHandles(zip: ZipArchive, label: string, functions: FunctionCode[]): FunctionCode[] {
  if (!zip.has('mobile_debug_handles.pkl')) return functions
  const handles = debugHandlesOf(zip.read('mobile_debug_handles.pkl'), `${label}, mobile_debug_handles.pkl`)
  return functions.map((fn) => {
    const debugHandles = handles.get(fn.name)
    return debugHandles === undefined ? fn : { ...fn, debugHandles }
  })
}

function readDebugRecords(zip: ZipArchive): DebugRecords {
  const ranges: Uint8Array[] = []
  for (const name of zip.names()) if (name.startsWith('code/') && name.endsWith('.debug_pkl')) ranges.push(zip.read(name))
  return { callStacks: zip.read('callstack_debug_map.pkl'), ranges }
}

/** The storages of an archive by record: a record that is named twice is one storage. */
class RecordStorages {
  private readonly known = new Map<string, Storage>()

  constructor(
    private readonly zip: ZipArchive,
    private readonly source: ByteSource,
  ) {}

  get(record: string, scalarType: number, count: number): Storage {
    const itemSize = scalarTypeSize(scalarType) ?? 1
    // records of empty storages may be absent
    const storage =
      this.known.get(record) ?? (count === 0 && !this.zip.has(record) ? storageFrom(new Uint8Array(0)) : this.open(record, itemSize))
    this.known.set(record, storage)
    if (count * itemSize > storage.byteLength) {
      throw damaged(`${this.source.label}: expected ${count * itemSize} bytes in the record ${record}, found ${storage.byteLength}`)
    }
    return storage
  }

  private open(record: string, itemSize: number): Storage {
    const place = this.zip.locate(record)
    return place === null ? storageFrom(this.zip.read(record)) : this.source.storage(place.offset, place.length, itemSize)
  }
}
