import { ScriptObject } from '../../runtime/tensor/value.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { ByteSource } from '../containers/bytes.js'
import type { OpenedFile } from '../containers/opened-file.js'
import { unexpected, unsupported } from '../../program/file-error.js'
import { FlatValues } from './values.js'
import { FlatReader, type FlatTable } from '../containers/flatbuffer/reader.js'
import { Field } from './schema.js'
import { checkVersions, type ParsedProgram, type Reading } from '../reading/parsed.js'

/** Reads a flatbuffer module (module.fbs). */
export function read({ source }: OpenedFile, { pool, budget, limits }: Reading): ParsedProgram {
  const field = Field.module
  const reader = new FlatReader(source, limits?.objects, budget)
  const module = reader.root()
  const bytecodeVersion = module.uint32(field.bytecodeVersion)
  const operatorVersion = module.uint32(field.operatorVersion)
  checkVersions(bytecodeVersion, operatorVersion)
  const storages = new FlatStorages(reader, module, source)
  const values = new FlatValues(reader, module, pool, (index) => storages.get(index))
  if (values.functions.length === 0 && module.vector(field.jitSources, 4).length > 0) {
    throw unsupported(
      'this is a full TorchScript flatbuffer without mobile functions; export the module again with _save_for_lite_interpreter',
    )
  }
  const extraFiles = new Map(module.tables(field.extraFiles).map((file) => [file.text(Field.extraFile.name), contentOf(file)]))
  return {
    bytecodeVersion,
    operatorVersion,
    functions: values.functions,
    extraFiles,
    debug: undefined,
    readState: () => {
      const root = values.get(module.uint32(field.state))
      if (!(root instanceof ScriptObject)) throw unexpected('the module', root)
      return { root, pending: values.pending }
    },
  }
}

function contentOf(file: FlatTable): Uint8Array {
  const { start, length } = file.vector(Field.extraFile.content, 1)
  return file.reader.copy(start, length)
}

/** What elements of any type need: tensors of several may view one storage. */
const ALIGNMENT = 8

/** The storages of a flatbuffer: one that several tensors or tables refer to is one Storage. */
class FlatStorages {
  private readonly known = new Map<string, Storage>()
  private readonly tables: readonly FlatTable[]

  constructor(
    private readonly reader: FlatReader,
    module: FlatTable,
    private readonly source: ByteSource,
  ) {
    this.tables = module.tables(Field.module.storages)
  }

  get(index: number): Storage {
    const table = this.tables[index]
    if (table === undefined) throw this.reader.error(`a tensor is on storage ${index}; there are ${this.tables.length}`)
    const { start, length } = table.vector(Field.storage.data, 1)
    const key = `${start} ${length}`
    let storage = this.known.get(key)
    if (storage === undefined) {
      this.reader.spend(length)
      storage = this.source.storageAt(start, length, ALIGNMENT)
      this.known.set(key, storage)
    }
    return storage
  }
}
