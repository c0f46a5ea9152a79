import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { AheadModule, OriginalFile } from '../formats/ptlc/module.js'
import { writeAhead } from '../formats/ptlc/write.js'
import { openSource } from '../formats/containers/bytes.js'
import { cpu } from '../runtime/native/cpu.js'
import { PtliteError } from '../runtime/error.js'
import { PLAN_VERSION } from '../runtime/version.js'
import { fingerprintOf } from '../engine/fingerprint.js'
import { planning } from '../engine/lazy.js'
import { openProgramEngine } from '../engine/open-program.js'
import type { LoadOptions } from '../engine/options.js'
import { sha256 } from '../engine/replaced.js'
import type { AheadPlans, Changes } from '../engine/plan-ahead.js'
import type { ProgramEngine } from '../engine/program-engine.js'
import type { Input } from './values/convert.js'
import { fitArguments } from './fit.js'
import { Module } from './module.js'

/** A call that a plan is made for. */
export interface PlannedCall {
  readonly method: string
  readonly args: readonly Input[]
  /** `last`: the plan gives the last row alone of the result, or of the first tensor in it, for calls with that option. */
  readonly outputs?: 'last'
}

/**
 * Compiles a model ahead for calls of these forms; `callsOf` gets the loaded model, once more where a call has changed it. Returns the bytes of a `.ptlc` file for this ISA
 * level and version of the library. Calls that there can be no plan for are left to the model, and so noted in the file: what is compiled
 * in regions is so at its first calls, as it is without the file. Throws INVALID_ARGUMENT saying why where there can be a plan for none of
 * the calls or their parts, INVALID_FILE where the model changed meanwhile, and what a call throws.
 */
export function compileAhead(
  path: string,
  callsOf: (module: Module) => readonly PlannedCall[],
  options: Pick<LoadOptions, 'winograd' | 'eval' | 'strict' | 'weights' | 'group' | 'activations' | 'kvCache'> = {},
): Uint8Array {
  const before = identityOf(path)
  for (let known: Changes = { calls: new Map(), state: [] }; ;) {
    const engine = openProgramEngine(path, { ...options, onWarning: () => undefined })
    try {
      const { changes, ...plans } = planAhead(engine, callsOf(Module.over(engine)), known)
      if (planning().areKnown(changes, known)) {
        const bytes = writeAhead({ ...aboutModule(path, engine), ...plans, ...roundingOf(options) })
        if (identityOf(path) === before) return bytes
        // what the plans say of their model is of another one
        throw new PtliteError('INVALID_FILE', `${path}: the file was changed while it was compiled; compile it again`)
      }
      known = changes
    } finally {
      engine.dispose()
    }
  }
}

/** What a `.ptlc` file says of its weights and caches. */
function roundingOf({
  weights,
  group,
  activations,
  kvCache,
}: Pick<LoadOptions, 'weights' | 'group' | 'activations' | 'kvCache'>): Pick<AheadModule, 'rounding' | 'kvCache'> {
  const caches = kvCache === undefined ? {} : { kvCache }
  if (weights === undefined) return caches
  const isDefault = activations === undefined || activations === 'int8'
  return { ...caches, rounding: { weights, ...(group === undefined ? {} : { group }), ...(isDefault ? {} : { activations }) } }
}

/** What the plans of these calls are, and the methods that they are of. */
export function planAhead(engine: ProgramEngine, calls: readonly PlannedCall[], known?: Changes): AheadPlans {
  const fitted = calls.map(({ method, args, outputs }) => ({
    method,
    args: fitArguments(engine, method, args),
    lastRow: outputs === 'last',
  }))
  return engine.planAhead(fitted, known)
}

/** What a `.ptlc` file says of the model that it is made from, and of where that happens. */
export function aboutModule(
  path: string,
  module: Pick<Module, 'bytecodeVersion' | 'operatorVersion' | 'operators'>,
): Omit<AheadModule, 'methods' | 'plans' | 'states' | 'unplanned' | 'training' | 'missing'> {
  return {
    library: PLAN_VERSION,
    level: cpu.currentLevel(),
    levels: cpu.levelsInUse(),
    ...originalFile(path),
    bytecodeVersion: module.bytecodeVersion,
    operatorVersion: module.operatorVersion,
    operators: module.operators,
  }
}

/** Of the file that a path leads to, and of its contents as far as the system says when they were written. */
function identityOf(path: string): string {
  const { dev, ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return [dev, ino, size, mtimeMs].join(' ')
}

function originalFile(path: string): OriginalFile {
  const source = openSource(path)
  try {
    return {
      original: basename(path),
      originalBytes: source.size,
      fingerprint: fingerprintOf(source),
      sha256: sha256(readFileSync(path)),
    }
  } finally {
    source.close()
  }
}
