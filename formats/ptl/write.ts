import type { FunctionCode, FunctionSchema } from '../../program/code.js'
import { guarded } from '../../program/file-error.js'
import type { Program } from '../../program/program.js'
import { OPCODE_NAMES } from '../../program/opcodes.js'
import { utf8 } from '../../runtime/encoding.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { type Record, writeZip } from '../containers/zip/writer.js'
import { bytesOf, type ObjectStates } from '../writing/program-writer.js'
import { Pickler, StorageRecords } from './pickler.js'

/** Folder of all records. */
const TOP = 'model'

/** The version of the bytecode that is written. */
const VERSION = 8

/** A mobile file with a program (`bytecode.pkl`, torch/csrc/jit/mobile/import.cpp says what is in it). */
export function writePtl(program: Program, states: ObjectStates): Uint8Array {
  const pickled = (name: string, folder: string, write: (pickler: Pickler) => void): Record[] => {
    const storages = new StorageRecords()
    const pickler = new Pickler(storages, states)
    write(pickler)
    return [{ name, content: pickler.finish() }, ...storageRecords(folder, storages)]
  }
  const records: Record[] = [
    ...pickled('data.pkl', 'data', (pickler) => guarded('the module', () => pickler.value(program.root))),
    ...pickled('bytecode.pkl', 'constants', (pickler) => writeFunctions(program.functions, pickler)),
    ...[...program.extraFiles].map(([name, content]) => ({ name: `extra/${name}`, content })),
    { name: 'version', content: utf8(`${program.operatorVersion}\n`) },
  ]
  return writeZip(records.map(({ name, content }) => ({ name: `${TOP}/${name}`, content })))
}

function writeFunctions(functions: readonly FunctionCode[], pickler: Pickler): void {
  pickler.group(() => {
    pickler.value(VERSION)
    for (const fn of functions) guarded(fn.name, () => pickler.value(functionValue(fn)))
  })
}

function storageRecords(folder: string, { storages }: StorageRecords): Record[] {
  return storages.map((storage, i) => ({ name: `${folder}/${i}`, content: bytesOf(storage) }))
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
