// Loads the parts of the built package as Node's require does, but with the code that V8 compiled of them in an earlier process: reading that
// takes a third of the time. A file of the package by itself, which the parts come through (scripts/build/node.ts).
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runInThisContext, Script } from 'node:vm'
import type { Compiled } from './save.js'

/** Names the contents of all chunks; the build puts its value here. */
declare const BUILD: string
declare const require: (id: string) => unknown

type Wrapper = (exports: object, require: (id: string) => unknown, filename: string) => void

/** How long a process may take until it has loaded what it starts with. */
const SETTLED_MS = 2000

const loaded = new Map<string, object>()
const compiled: Compiled[] = []
/** Not so where a test runner has the package in a context of its own, whose classes its code is to use. */
const isMainRealm = runInThisContext('Array') === Array
/** Where compiled code is kept; null where it is not. */
let folder = cacheFolder()
let isSaved = true

/**
 * What the part exports; `file` is './NAME.cjs'. Parts are kept here and not by `require`: who loads the package anew gets parts of its own, and
 * those that are loaded late find the others that they were loaded with, whatever became of the modules that Node or a test runner keeps.
 */
export function load(file: string): unknown {
  let exports = loaded.get(file)
  if (exports === undefined) {
    const path = join(__dirname, file)
    const run = isMainRealm ? (compile(path, file).runInThisContext() as Wrapper) : compileHere(path)
    // V8 copies all properties of an object for each that is added to it, but where it has no prototype
    run((exports = Object.create(null) as object), requireIn, path)
    // and reads those of one that is a prototype at their places again, so that calls between chunks are inlined
    Object.create(exports)
    // parts do not need each other in circles
    loaded.set(file, exports)
  }
  return exports
}

/** What code of a chunk calls as `require`; the build has './import.cjs' in the place of `import()`, which compiled code that is kept knows nothing of. */
function requireIn(id: string): unknown {
  if (id === './import.cjs') return (specifier: string) => import(specifier)
  return id.startsWith('./') ? load(id) : require(id)
}

function cacheFolder(): string | null {
  const { PTLITE_CODE_CACHE: chosen, NODE_V8_COVERAGE: coverage } = process.env
  // cached code is not counted as covered
  if (chosen === '0' || coverage || !isMainRealm) return null
  // V8 takes code of another processor for its own, and dies of it
  return join(chosen || join(__dirname, '.cache'), `${BUILD}-${process.version}-${process.arch}`)
}

function compileHere(path: string): Wrapper {
  // only the realm itself makes functions of its own
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  return new Function('exports', 'require', '__filename', `${readFileSync(path, 'utf8')}\n//# sourceURL=${path}`) as Wrapper
}

function compile(path: string, file: string): Script {
  const source = `(function (exports, require, __filename) {\n${readFileSync(path, 'utf8')}\n})`
  if (folder === null) return new Script(source, { filename: path, lineOffset: -1 })
  // V8 compares the length of the source alone
  const { mtimeMs } = statSync(path)
  const name = `${file}-${Math.floor(mtimeMs / 1000)}`
  const read = (): Script => new Script(source, { filename: path, lineOffset: -1, cachedData: cached(name) })
  let script = read()
  if (script.cachedDataRejected === true && compiled.length === 0) {
    // by a process with other flags
    folder += `-${(require('node:v8') as typeof import('node:v8')).cachedDataVersionTag()}`
    script = read()
  }
  compiled.push({ name, script })
  if (isSaved && script.cachedDataRejected !== false) {
    isSaved = false
    process.once('exit', save)
    setTimeout(save, SETTLED_MS).unref()
  }
  return script
}

function cached(name: string): Buffer | undefined {
  try {
    return readFileSync(join(folder!, name))
  } catch {
    return undefined
  }
}

function save(): void {
  if (isSaved) return
  isSaved = true
  ;(require('./save.cjs') as typeof import('./save.js')).save(folder!, compiled)
}
