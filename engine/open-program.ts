import { compiler } from '../compiler/index.js'
import type { Openable } from '../formats/containers/bytes.js'
import { openProgram, type ProgramFile } from '../formats/read.js'
import { allSteps, type Steps } from '../formats/steps.js'
import { caches } from './lazy.js'
import { loadOpened } from './load-program.js'
import type { InterpretingEngine } from './interpreting-engine.js'
import type { LoadOptions } from './options.js'
import { roundWeights } from './round-weights.js'
import { PlainEngine } from './plain-engine.js'
import { ProgramEngine } from './program-engine.js'
import * as features from '../runtime/features.js'
import { absent } from '../runtime/error.js'

/** What runs the program of a path or bytes, whose file is open, step by step. Throws PtliteError. */
export function* openProgramSteps(source: Openable, options: LoadOptions, opened: ProgramFile): Steps<InterpretingEngine> {
  if (!features.interpreter) {
    opened.file.source.close()
    throw absent('the interpreter', 'UNSUPPORTED_FILE')
  }
  if (options.compile === 'eager') yield compiler.ready()
  const script = yield* loadOpened(source, options, opened)
  if (features.rounding && options.kvCache !== undefined) {
    yield caches.ready()
    caches().narrowCaches(script, options.kvCache)
  }
  if (features.rounding && options.weights !== undefined) roundWeights(script, options.weights, options)
  const engine = features.compiler ? new ProgramEngine(script, options) : new PlainEngine(script, options.limits)
  if (options.eval === true) engine.setTraining(false)
  return engine
}

/** The same at once, of a path or bytes that it opens, in builds with a compiler. */
export function openProgramEngine(source: Openable, options: LoadOptions = {}): ProgramEngine {
  return allSteps(openProgramSteps(source, options, openProgram(source, options))) as ProgramEngine
}
