import type { FunctionCode } from '../../program/code.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { OpenedFile } from '../containers/opened-file.js'
import { debugHandlesOf, PickledDebugInfo } from './debug.js'
import { guarded, integerOf, tupleOf, unexpected } from '../../program/file-error.js'
import { checkByteOrder, extraFilesOf, operatorVersionOf, storagesOf } from '../reading/archive.js'
import { checkVersions, type ParsedProgram, type Reading } from '../reading/parsed.js'
import { type ModuleMeaning, moduleGlobals } from '../reading/pickle-globals.js'
import { readFunction } from './code.js'
import { unpickle } from '../containers/pickle/unpickler.js'
import * as features from '../../runtime/features.js'

const BYTECODE = 'bytecode.pkl'
const DEBUG_HANDLES = 'mobile_debug_handles.pkl'
const CALL_STACKS = 'callstack_debug_map.pkl'

/** Reads a .ptl archive. */
export function read(file: OpenedFile, { pool, budget }: Reading): ParsedProgram {
  const zip = file.zip!
  const names = zip.recordNames()
  checkByteOrder(zip)
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
  // version 3 had no number in front
  const bytecodeVersion = version instanceof Tuple ? 3 : integerOf(version)
  const operatorVersion = operatorVersionOf(zip)
  checkVersions(bytecodeVersion, operatorVersion)
  const handles = features.debug && zip.holds(DEBUG_HANDLES) ? debugHandlesOf(zip.contentOf(DEBUG_HANDLES), budget) : undefined
  const functions = guarded(BYTECODE, () => codes.map((code) => readFunction(code, handles, budget)))
  setStates = new Map(functions.filter((fn) => fn.method === '__setstate__').map((fn) => [fn.className, fn]))
  return {
    bytecodeVersion,
    operatorVersion,
    functions,
    extraFiles: extraFilesOf(zip),
    debug:
      features.debug && zip.holds(CALL_STACKS)
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
