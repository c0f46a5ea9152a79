import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileAhead } from '../../src/ahead.js'
import * as library from '../../src/index.js'
import { webLibrary, withoutWeb } from '../support/web.js'
import { type Outcomes, outcomesOf } from './outcomes.js'
import type { Program } from './program.js'
import { argumentsOf } from './values.js'
import { outcomesInWorker } from './worker.js'

/** The files of a program. */
export interface Files {
  readonly pt: Uint8Array
  readonly ptl: Uint8Array
  readonly ff: Uint8Array
}

/** One of the ways to run a program. */
export interface Mode {
  readonly name: string
  /** Whether what shares memory can be told. */
  readonly tellsSharing: boolean
  /** null where the program cannot be run so. */
  outcomes(program: Program, files: Files): Promise<Outcomes | null>
}

const quiet = { onWarning: () => undefined }

function byCall(name: string, file: keyof Files, compile: 'off' | 'auto' | 'eager'): Mode {
  return {
    name,
    tellsSharing: true,
    outcomes: (program, files) => outcomesOf(library, program, () => library.loadModule(files[file], { compile, ...quiet })),
  }
}

/** What all others are compared with: the interpreter of the converted file. */
export const TRUTH = byCall('.ptl, off', 'ptl', 'off')

const BACKGROUND: Mode = {
  name: 'run()',
  tellsSharing: false,
  outcomes: (program, files) =>
    outcomesOf(
      library,
      program,
      () => library.loadModule(files.ptl, quiet),
      (module, method, args) => module.run(method, args),
    ),
}

let folder: string | undefined
let written = 0

/** A path that no file had before: mapped ones are not written over. Where the system has a folder in memory, it is in that. */
function newPath(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ptlite-ahead-'))
    folder = made
    process.on('exit', () => rmSync(made, { recursive: true, force: true }))
  }
  return join(folder, `${written++}.ptl`)
}

/** The first call of each method is compiled to a file. */
const AHEAD: Mode = {
  name: '.ptlc',
  tellsSharing: true,
  async outcomes(program, files) {
    const path = newPath()
    try {
      writeFileSync(path, files.ptl)
      writeFileSync(
        `${path}c`,
        compileAhead(path, () => firstCalls(program)),
      )
      return await outcomesOf(library, program, () => library.loadModule(`${path}c`, quiet))
    } catch (error) {
      // there is no plan, or the call fails
      if (error instanceof library.PtliteError && error.code !== 'INTERNAL') return null
      return { call: -1, failure: error instanceof Error ? `${error.stack}` : String(error) }
    } finally {
      for (const file of [path, `${path}c`]) rmSync(file, { force: true })
    }
  },
}

function firstCalls({ calls }: Program): { method: string; args: library.Input[] }[] {
  const firsts = calls.filter(({ method }, i) => calls.findIndex((call) => call.method === method) === i)
  return firsts.map((call) => ({ method: call.method, args: argumentsOf(library, call, []) }))
}

const WORKER: Mode = { name: 'worker', tellsSharing: true, outcomes: outcomesInWorker }

/** Operators that callers call. */
const CALLED = ['aten::as_strided', 'aten::add_.Scalar']

/** The library for browsers: every other program in regions from the start. */
const WEB: Mode = {
  name: 'wasm',
  tellsSharing: false,
  async outcomes(program, files) {
    const found = await webLibrary()
    await found.ready({ for: CALLED })
    const web = found as unknown as typeof library
    const compile = program.seed % 2 === 0 ? 'auto' : 'eager'
    return outcomesOf(web, program, () => web.loadModule(files.ptl, { compile, ...quiet }))
  },
}

/** The interpreter of the file with the source, whose errors say where they are. */
export const SOURCE = byCall('.pt, off', 'pt', 'off')

export const MODES: readonly Mode[] = [
  SOURCE,
  byCall('.ff, off', 'ff', 'off'),
  byCall('.ptl, auto', 'ptl', 'auto'),
  byCall('.ptl, eager', 'ptl', 'eager'),
  AHEAD,
  BACKGROUND,
  WORKER,
  ...(withoutWeb === false ? [WEB] : []),
]
