import { guarded, unsupported } from '../program/file-error.js'
import { operatorsReady } from '../program/operators-ready.js'
import type { LoadHooks, Program } from '../program/program.js'
import { READING_MILLISECONDS } from '../runtime/limits.js'
import { TimeLimit } from '../runtime/pace.js'
import { enterScope } from '../runtime/tensor/scope.js'
import { type Openable, openSource } from './containers/bytes.js'
import { OpenedFile } from './containers/opened-file.js'
import { ValueBudget } from './containers/value-budget.js'
import { openCompanions } from './reading/companions.js'
import { checkNesting } from './reading/nesting.js'
import type { OpenOptions, ReadOptions } from './reading/read-options.js'
import { TensorPool } from './reading/tensor-pool.js'
import { formatOf, type ProgramFormat } from './registry.js'
import { allSteps, type Steps } from './steps.js'

/** An open file with a program. */
export interface ProgramFile {
  readonly file: OpenedFile
  readonly format: ProgramFormat
}

/** Opens a path or bytes with a program, whatever its format. Throws INVALID_FILE, or UNSUPPORTED_FILE where it has none. */
export function openProgram(source: Openable, { map, verify }: OpenOptions = {}): ProgramFile {
  const bytes = openSource(source, map)
  try {
    const file = new OpenedFile(bytes, verify)
    const format = formatOf(file)
    if (format.holds === 'program') return { file, format }
    throw unsupported(
      `${bytes.label}: a ${format.extension} file holds plans and no program; this needs the model that it was compiled from`,
    )
  } catch (error) {
    bytes.close()
    throw error
  }
}

/** The program of a path, of bytes or of a source, which it closes where it fails: that of readProgram. */
export function loadModelFile(source: Openable, hooks: LoadHooks = {}, options: ReadOptions = {}): Program {
  return allSteps(readProgram(openProgram(source, options), hooks, options))
}

/**
 * Reads the program of a file, which it closes where it fails, step by step: other work of the thread may go between them. Weights of a file on
 * disk are mapped and used in place, those of bytes in memory are copied once. Throws INVALID_FILE for anything damaged, UNSUPPORTED_FILE for
 * what is whole but cannot be run, LIMIT_EXCEEDED where it takes more than the limits allow, or than `time` leaves.
 */
export function* readProgram(
  { file, format }: ProgramFile,
  hooks: LoadHooks,
  options: ReadOptions,
  time = new TimeLimit('loading the module', options.limits?.milliseconds ?? READING_MILLISECONDS),
): Steps<Program> {
  const { source } = file
  const { objects, elements } = options.limits ?? {}
  const budget = new ValueBudget(source.size, objects, elements, time.who)
  const pool = new TensorPool(source, budget)
  const step = <T>(work: () => T): T => {
    // the file's tensors belong to no run
    const before = enterScope(null)
    try {
      return time.within(() => guarded(source.label, work))
    } catch (error) {
      pool.close()
      throw error
    } finally {
      enterScope(before)
    }
  }
  const parsed = step(() => {
    const data = openCompanions(source, format.dataExtension, options)
    return format.read(file, {
      format: format.extension,
      pool,
      budget,
      limits: options.limits,
      data,
      onlyLooks: options.onlyLooks ?? false,
    })
  })
  yield operatorsReady(parsed.functions, parsed.operatorVersion)
  step(() => {
    checkNesting(parsed.functions.flatMap((fn) => fn.constants))
    hooks.onFunctions?.(parsed.functions, parsed.operatorVersion)
  })
  yield undefined
  const { root, pending } = step(() => parsed.readState())
  yield undefined
  return step(() => {
    checkNesting([root, ...pending.map(({ state }) => state)])
    for (const { object, state, setState } of pending) hooks.runSetState?.(setState, object, state, time.left)
    source.checkUnchanged()
    return { ...parsed, format: format.name, root, checkUnchanged: () => source.checkUnchanged(true), close: () => pool.close() }
  })
}
