import { strictTextOf } from '../../runtime/encoding.js'
import { pace } from '../../runtime/pace.js'
import type { FunctionCode } from '../../program/code.js'
import { damaged, guarded, tupleOf, unexpected } from '../../program/file-error.js'
import { checkNesting } from '../reading/nesting.js'
import { checkVersions, type ModuleState, type ParsedProgram, type Reading } from '../reading/parsed.js'
import { PickleGlobal } from '../containers/pickle/global.js'
import { moduleGlobals } from '../reading/pickle-globals.js'
import { unpickle } from '../containers/pickle/unpickler.js'
import type { OpenedFile } from '../containers/opened-file.js'
import type { ZipArchive } from '../containers/zip/archive.js'
import { checkByteOrder, extraFilesOf, operatorVersionOf, storagesOf } from '../reading/archive.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { Complex } from '../../runtime/tensor/scalar.js'
import { MODULE_CLASSES, CUSTOM_CLASSES, ScriptObject } from '../../runtime/tensor/value.js'
import { Library } from './library.js'
import { arrangeAttributes, enumMemberOf } from './objects.js'
import { compileProgram } from './program.js'
import { SourceFile } from './source.js'

/** The bytecode version whose instructions the code becomes. */
const BYTECODE_VERSION = 8
/** Characters of code, in one file and in all. */
const MAX_CHARACTERS = 1 << 26

/** Reads a TorchScript archive: code in place of bytecode. */
export function read(file: OpenedFile, { pool, budget }: Reading): ParsedProgram {
  const zip = file.zip!
  checkByteOrder(zip)
  const operatorVersion = operatorVersionOf(zip)
  checkVersions(BYTECODE_VERSION, operatorVersion)
  const setStates = new Map<string, FunctionCode>()
  const storageOf = storagesOf(zip)
  let folder = 'constants/'
  const meaning = moduleGlobals(pool, (key, scalarType, count) => storageOf(folder + key, scalarType, count), setStates, budget)
  const constants = guarded('constants.pkl', () => tupleOf(unpickle(zip.contentOf('constants.pkl'), meaning, budget)))
  checkNesting(constants)
  folder = 'data/'
  const library = new Library(sourceReader(zip), constants, enumMemberOf(meaning.lookUp), operatorVersion)
  const { root, classes } = guarded('data.pkl', () => classesOf(zip.contentOf('data.pkl'), budget))
  for (const constant of constants) arrangeAttributes(constant, library, budget)
  const find = (name: string) => {
    const found = library.findClass(name)
    if (found === undefined) throw damaged(`the code has no class ${name}`)
    return found
  }
  const { functions, debug } = compileProgram(library, find(root), classes.map(find))
  for (const fn of functions) if (fn.method === '__setstate__') setStates.set(fn.className, fn)
  const readState = (): ModuleState =>
    guarded('data.pkl', () => {
      const value = unpickle(zip.contentOf('data.pkl'), meaning, budget)
      if (!(value instanceof ScriptObject)) throw unexpected('the module', value)
      checkNesting([value])
      arrangeAttributes(value, library, budget)
      return { root: value, pending: meaning.pending }
    })
  const { lookedUp } = library
  const plainClasses = new Set(classes.filter((name) => !find(name).isModule))
  const code = { functions, debug, lookedUp, plainClasses }
  return { bytecodeVersion: BYTECODE_VERSION, operatorVersion, ...code, extraFiles: extraFilesOf(zip), readState }
}

function sourceReader(zip: ZipArchive): (path: string) => SourceFile | undefined {
  let left = MAX_CHARACTERS
  return (path) => {
    const record = `code/${path}.py`
    if (!zip.holds(record)) return undefined
    const bytes = zip.contentOf(record)
    pace(bytes.length)
    const text = (left -= bytes.length) < 0 ? undefined : strictTextOf(bytes)
    if (text === undefined) throw damaged(`${record} is no text, or too long`)
    return new SourceFile(record, text)
  }
}

/** The class of the module, and those of all objects in it: a look at its pickle that makes nothing. */
function classesOf(pickle: Uint8Array, budget: ValueBudget): { root: string; classes: string[] } {
  const classes = new Set<string>()
  const root = unpickle(
    pickle,
    {
      lookUp: (name) => {
        const isClass = name.startsWith(MODULE_CLASSES) && !name.startsWith(CUSTOM_CLASSES)
        return new PickleGlobal(name, () => {
          if (isClass) classes.add(name)
          // what is made of anything else does not matter, but that it can be the key of a dict
          return isClass ? new ScriptObject(name, [], []) : new Complex(0, 0)
        })
      },
      persistentLoad: () => null,
      setState: () => undefined,
    },
    budget,
  )
  if (!(root instanceof ScriptObject)) throw unexpected('the module', root)
  return { root: root.typeName, classes: [...classes] }
}
