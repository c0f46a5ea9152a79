import type { Openable } from '../formats/containers/bytes.js'
import { openProgram, type ProgramFile } from '../formats/read.js'
import { allSteps, type Steps } from '../formats/steps.js'
import { compilerReady } from '../runtime/ready.js'
import { loadOpened } from './load-program.js'
import type { LoadOptions } from './options.js'
import { ProgramEngine } from './program-engine.js'

/** What runs the program of a path or bytes, whose file is open, step by step. Throws PtliteError. */
export function* openProgramSteps(source: Openable, options: LoadOptions, opened: ProgramFile): Steps<ProgramEngine> {
  if (options.compile === 'eager') yield compilerReady()
  const engine = new ProgramEngine(yield* loadOpened(source, options, opened), options)
  if (options.eval === true) engine.setTraining(false)
  return engine
}

/** The same at once, of a path or bytes that it opens. */
export function openProgramEngine(source: Openable, options: LoadOptions = {}): ProgramEngine {
  return allSteps(openProgramSteps(source, options, openProgram(source, options)))
}
