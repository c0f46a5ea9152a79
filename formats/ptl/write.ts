import type { FunctionCode, FunctionSchema } from '../../program/code.js'
import { OPCODE_NAMES } from '../../program/opcodes.js'
import type { Program } from '../../program/program.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { pickle, StorageRecords } from '../containers/pickle/pickler.js'
import type { ZipArchive } from '../containers/zip/archive.js'
import { type Record, writeZip } from '../containers/zip/writer.js'

/** Folder of all records. */
const TOP = 'model'

/**
 * A mobile file with a program (`bytecode.pkl`, torch/csrc/jit/mobile/import.cpp says what is in it). The module's objects are those of `archive`, where
 * the program is from one that has them as mobile files do; else they are written anew. Throws UNSUPPORTED_FILE for values that have no form there.
 */
export function writePtl(program: Program, archive: ZipArchive | null): Buffer {
  const constants = new StorageRecords()
  const bytecode = pickle(tuple([program.bytecodeVersion, ...program.functions.map(functionValue)]), constants)
  const records: Record[] = [
    ...(archive === null ? objectRecords(program) : copiedRecords(archive)),
    ...storageRecords('constants', constants),
    { name: 'bytecode.pkl', content: bytecode },
    ...[...program.extraFiles].map(([name, content]) => ({ name: `extra/${name}`, content })),
    { name: 'version', content: Buffer.from(`${program.operatorVersion}\n`) },
  ]
  return writeZip(records.map(({ name, content }) => ({ name: `${TOP}/${name}`, content })))
}

function objectRecords({ root }: Program): Record[] {
  const records = new StorageRecords()
  const content = pickle(root, records)
  return [{ name: 'data.pkl', content }, ...storageRecords('data', records)]
}

function copiedRecords(archive: ZipArchive): Record[] {
  const names = archive.recordNames().filter((name) => name === 'data.pkl' || name.startsWith('data/'))
  return names.map((name) => ({ name, content: Uint8Array.from(archive.contentOf(name)) }))
}

function storageRecords(folder: string, { storages }: StorageRecords): Record[] {
  return storages.map((storage, i) => ({ name: `${folder}/${i}`, content: bytesOf(storage) }))
}

function bytesOf({ address, byteLength: bytes }: Storage): Uint8Array {
  const content = Buffer.alloc(bytes)
  if (bytes > 0) kernels.mem_read({ address, bytes }, content)
  return content
}

const tuple = (items: Value[]): Tuple => new Tuple(items)
const table = (rows: readonly (readonly [key: string, value: Value])[]): Tuple => tuple(rows.map(([key, value]) => tuple([key, value])))

function functionValue(fn: FunctionCode): Value {
  const instructions = Array.from({ length: fn.code.length / 3 }, (_, i) =>
    tuple([OPCODE_NAMES[fn.code[3 * i]!]!, fn.code[3 * i + 1]!, fn.code[3 * i + 2]!]),
  )
  const code = table([
    ['instructions', tuple(instructions)],
    ['operators', tuple(fn.operators.map(({ name, overload, argCount }) => tuple([name, overload, ...(argCount < 0 ? [] : [argCount])])))],
    ['constants', tuple([...fn.constants])],
    ['types', tuple([...fn.types])],
    ['register_size', fn.registerSize],
  ])
  return tuple([fn.name, code, ...(fn.schema === null ? [] : [schemaValue(fn.schema)])])
}

function schemaValue({ args, returns }: FunctionSchema): Value {
  const row = (name: string, type: string, value: Value): Tuple =>
    table([
      ['name', name],
      ['type', type],
      ['default_value', value],
    ])
  return table([
    ['arguments', tuple(args.map((arg) => row(arg.name, arg.type, arg.default ?? null)))],
    ['returns', tuple(returns.map(({ type }) => row('', type, null)))],
  ])
}
