import { DEFAULT_ELEMENTS, type Limits, limitsOver, READING_MILLISECONDS } from '../runtime/limits.js'
import { Budget } from '../runtime/native/budget.js'
import type { Openable } from '../formats/containers/bytes.js'
import { openProgram, type ProgramFile, readProgram } from '../formats/read.js'
import type { ReadLimits, ReadOptions } from '../formats/reading/read-options.js'
import { allSteps, type Steps } from '../formats/steps.js'
import { ScriptModule, type ScriptOptions } from '../interpreter/script-module.js'

/** How a program is loaded. */
export interface ProgramOptions extends ScriptOptions, ReadOptions {
  /** What the code that loading runs may take, where that is not as by default. */
  readonly limits?: Limits & ReadLimits
}

/** What the code that loading a file of so many bytes runs may take: far more than any that has to set up its objects. */
export function loadingLimits(fileBytes: number): Limits {
  return { instructions: 1e8, bytes: 2 ** 30 + 8 * fileBytes, milliseconds: READING_MILLISECONDS, elements: DEFAULT_ELEMENTS }
}

/** Reads, verifies and links a model from a path or from bytes, at once. */
export function loadProgram(source: Openable, options: ProgramOptions = {}): ScriptModule {
  return allSteps(loadOpened(source, options, openProgram(source, options)))
}

/** The same of an open file, step by step. Objects with a `__setstate__` are built by running it. */
export function* loadOpened(source: Openable, options: ProgramOptions, opened: ProgramFile): Steps<ScriptModule> {
  const module = new ScriptModule(options, source)
  let budget: Budget | undefined
  /** Of all code that the load runs. */
  const loadingBudget = (): Budget =>
    (budget ??= new Budget('loading the module', limitsOver(options.limits, loadingLimits(opened.file.source.size))))
  const file = yield* readProgram(
    opened,
    {
      onFunctions: (codes, operatorVersion) => module.link(codes, operatorVersion),
      runSetState: (code, object, state, left) => loadingBudget().within(() => module.setState(code, object, state), left),
    },
    options,
  )
  module.complete(file)
  return module
}
