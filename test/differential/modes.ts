import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileAhead } from '../../src/ahead.js'
import * as library from '../../src/index.js'
import { webLibrary, withoutWeb } from '../support/web.js'
import { LAYERS } from './layers.js'
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
  /** The family whose programs alone it is for. */
  readonly family?: string
  /** What its outcomes are compared with, where that is not the interpreter of the converted file. */
  readonly reference?: Mode
  /** How far numbers may lie apart, in parts of the largest one, where that is not what float32 rounds. */
  readonly tolerance?: (program: Program) => number
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
const AHEAD: Mode = { name: '.ptlc', tellsSharing: true, outcomes: (program, files) => aheadOutcomes(program, files, {}) }

async function aheadOutcomes(program: Program, files: Files, options: library.LoadOptions): Promise<Outcomes | null> {
  const path = newPath()
  try {
    writeFileSync(path, files.ptl)
    writeFileSync(
      `${path}c`,
      compileAhead(path, () => firstCalls(program), options),
    )
    return await outcomesOf(library, program, () => library.loadModule(`${path}c`, quiet))
  } catch (error) {
    // there is no plan, or the call fails
    if (error instanceof library.PtliteError && error.code !== 'INTERNAL') return null
    return { call: -1, failure: error instanceof Error ? `${error.stack}` : String(error) }
  } finally {
    for (const file of [path, `${path}c`]) rmSync(file, { force: true })
  }
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

/** Weights in few bits: how far results may lie from those of float32, and what is there beside `weights` for a seed. */
const WEIGHTS = {
  bfloat16: { tolerance: 0.05, isInteger: false },
  float16: { tolerance: 0.02, isInteger: false },
  int8: { tolerance: 0.2, isInteger: true },
  int4: { tolerance: 2, isInteger: true },
} as const

/** Where bytes stand for activations, a number that is rounded otherwise is a step of 127 further. */
const STEPS = 0.05
/** The same where a caller adds 1 to weights, which are below a quarter. */
const LARGE_STEPS = 5 * STEPS

/** The interpreter with weights of a format, and the other modes with the same, which are compared with it. */
function weightModes(weights: keyof typeof WEIGHTS): Mode[] {
  const { tolerance, isInteger } = WEIGHTS[weights]
  const isExact = ({ seed }: Program): boolean => !isInteger || seed % 2 === 0
  const options = (program: Program): library.LoadOptions => ({
    weights,
    ...(isInteger && isExact(program) ? { activations: 'float' } : {}),
    ...quiet,
  })
  const load =
    (compile: 'off' | 'auto' | 'eager'): Mode['outcomes'] =>
    (program, files) =>
      outcomesOf(library, program, () => library.loadModule(files.ptl, { compile, ...options(program) }))
  const grows = ({ calls }: Program): boolean => calls.some(({ after }) => after.length > 0)
  // where a caller adds 1 to weights they are far larger than what tells them apart
  const bound = (program: Program): number => (grows(program) ? Infinity : tolerance)
  const reference: Mode = { name: `${weights}, off`, tellsSharing: true, family: LAYERS, tolerance: bound, outcomes: load('off') }
  const like = (name: string, outcomes: Mode['outcomes']): Mode => ({
    name: `${weights}, ${name}`,
    tellsSharing: false,
    family: LAYERS,
    reference,
    tolerance: (program) => (isExact(program) ? 1e-4 : grows(program) ? LARGE_STEPS : STEPS),
    outcomes,
  })
  const inBackground: Mode['outcomes'] = (program, files) =>
    outcomesOf(
      library,
      program,
      () => library.loadModule(files.ptl, options(program)),
      (module, method, args) => module.run(method, args),
    )
  const inWeb: Mode['outcomes'] = async (program, files) => {
    const found = await webLibrary()
    await found.ready({ for: CALLED })
    const web = found as unknown as typeof library
    return outcomesOf(web, program, () => web.loadModule(files.ptl, options(program)))
  }
  return [
    reference,
    like('auto', load('auto')),
    like('eager', load('eager')),
    like('.ptlc', (program, files) => aheadOutcomes(program, files, options(program))),
    like('run()', inBackground),
    ...(withoutWeb === false ? [like('wasm', inWeb)] : []),
  ]
}

export const MODES: readonly Mode[] = [
  SOURCE,
  byCall('.ff, off', 'ff', 'off'),
  byCall('.ptl, auto', 'ptl', 'auto'),
  byCall('.ptl, eager', 'ptl', 'eager'),
  AHEAD,
  BACKGROUND,
  WORKER,
  ...(withoutWeb === false ? [WEB] : []),
  ...(Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]).flatMap(weightModes),
]
