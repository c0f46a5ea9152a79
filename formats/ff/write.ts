import type { Offset } from 'flatbuffers'
import { guarded } from '../../program/file-error.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Program } from '../../program/program.js'
import { reachable } from '../../program/reach.js'
import { bytesOf, type ObjectStates } from '../writing/program-writer.js'
import { FlatBuilder } from '../containers/flatbuffer/builder.js'
import { Field } from './schema.js'
import { FlatValueWriter } from './write-values.js'

/** The version of the bytecode that is written. */
const VERSION = 9
const IDENTIFIER = 'PTMF'

/** A flatbuffer with a program (module.fbs), without its source. */
export function writeFf(program: Program, states: ObjectStates): Uint8Array {
  const { functions, root, extraFiles, operatorVersion } = program
  const builder = new FlatBuilder(contentBytes(program, states))
  const values = new FlatValueWriter(builder, states)
  const methods = functions.map((fn) => values.functionIndex(fn))
  const state = guarded('the module', () => values.indexOf(root))
  const field = Field.module
  const parts = {
    extraFiles: builder.offsets([...extraFiles].map(([name, content]) => writeExtraFile(builder, name, content))),
    methods: builder.int32s(methods),
    values: builder.offsets(values.offsets),
    storages: builder.offsets(values.writtenStorages.map((storage) => writeStorage(builder, storage))),
    // PyTorch looks for source, and takes a file without any
    jitSources: builder.offsets([]),
    jitConstants: builder.int32s([]),
    objectTypes: builder.offsets(values.objectTypes()),
  }
  const module = builder.table(12, (b) => {
    b.addFieldInt32(field.bytecodeVersion, VERSION, 0)
    b.addFieldOffset(field.extraFiles, parts.extraFiles, 0)
    b.addFieldOffset(field.methods, parts.methods, 0)
    b.addFieldInt32(field.state, state, 0)
    b.addFieldOffset(field.values, parts.values, 0)
    b.addFieldInt32(field.storageCount, values.writtenStorages.length, 0)
    b.addFieldOffset(field.storages, parts.storages, 0)
    b.addFieldOffset(field.objectTypes, parts.objectTypes, 0)
    b.addFieldOffset(field.jitSources, parts.jitSources, 0)
    b.addFieldOffset(field.jitConstants, parts.jitConstants, 0)
    b.addFieldInt32(field.operatorVersion, operatorVersion, 0)
    b.addFieldInt32(field.mobileValues, values.offsets.length, 0)
  })
  return builder.finish(module, IDENTIFIER)
}

/** Of everything large that goes into the file. */
function contentBytes({ functions, root, extraFiles }: Program, states: ObjectStates): number {
  const values = [root, ...functions.flatMap(({ constants }) => constants), ...[...states.values()].map(({ state }) => state)]
  const storages = new Set([...reachable(values)].map(({ storage }) => storage))
  return [...storages, ...extraFiles.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

function writeStorage(builder: FlatBuilder, storage: Storage): Offset {
  const data = builder.storage(bytesOf(storage))
  return builder.table(1, (b) => b.addFieldOffset(Field.storage.data, data, 0))
}

function writeExtraFile(builder: FlatBuilder, name: string, content: Uint8Array): Offset {
  const [text, bytes] = [builder.text(name), builder.content(content)]
  return builder.table(2, (b) => {
    b.addFieldOffset(Field.extraFile.name, text, 0)
    b.addFieldOffset(Field.extraFile.content, bytes, 0)
  })
}
