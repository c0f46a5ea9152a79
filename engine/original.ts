import type { CompileMode } from '../compiler/index.js'
import type { OriginalFile } from '../formats/ptlc/module.js'
import type { AheadAbout } from '../formats/ptlc/read.js'
import { PtliteError } from '../runtime/error.js'
import type { ByteSource } from '../formats/containers/bytes.js'
import { cpu } from '../runtime/native/cpu.js'
import { levelsNamed } from '../runtime/native/cpu-description.js'
import { PLAN_VERSION } from '../runtime/version.js'
import type { Engine } from './engine.js'
import type { InterpretingEngine } from './interpreting-engine.js'
import type { Original } from './plan-engine.js'
import { differenceOf, pathBeside, quickDifferenceOf } from './replaced.js'

/** Why plans of a file cannot be used here; null where they can. */
export function incompatibility({ library, level, kernels }: Pick<AheadAbout, 'library' | 'level' | 'kernels'>): string | null {
  if (library !== PLAN_VERSION) return `it was compiled by ptlite ${library}, this is ${PLAN_VERSION}`
  const inUse = cpu.levelsInUse()
  if (!inUse.includes(level)) return `it was compiled for ${level}, the level in use here is ${cpu.currentLevel()}`
  const lacking = kernels.find((kernel) => !inUse.includes(kernel.level))
  return lacking === undefined ? null : `its kernel ${lacking.name} is one for ${lacking.level}, which is not in use here`
}

/** The levels whose kernels run the plans of a file that can be used here, as bits by number; 0 where those are all that are in use. */
export function levelsOfPlans({ levels }: Pick<AheadAbout, 'levels'>): number {
  const inUse = cpu.levelsInUse()
  const ofPlans = inUse.filter((level) => levels.includes(level))
  return ofPlans.length === inUse.length ? 0 : levelsNamed(ofPlans)
}

export interface OriginalBeside extends Original {
  /** The model in place of plans that cannot be used. Throws UNSUPPORTED_FILE with the reason where it is not there. */
  insteadOf(reason: string): Engine
  /**
   * That the file of its name is not the model that the plans were made from, and what to do; null where it is, or there is none. Reads
   * little of the file (fingerprint.ts).
   */
  warning(): string | null
}

/**
 * The model that a .ptlc file was compiled from: the file of its name in the same folder, if that has the same bytes. In place of plans
 * that cannot be used it is compiled at the first call, unless the caller wants another mode.
 */
export function originalBeside(
  source: ByteSource,
  about: OriginalFile,
  load: (path: string, mode: CompileMode) => InterpretingEngine,
): OriginalBeside {
  const path = pathBeside(source.path, about.original)
  const open = (mode: CompileMode): InterpretingEngine => {
    if (path === undefined) throw new PtliteError('INVALID_ARGUMENT', 'bytes have no folder to find it in')
    const fault = differenceOf(path, about)
    if (fault !== null) throw new PtliteError('INVALID_ARGUMENT', fault)
    return load(path, mode)
  }
  return {
    warning() {
      const fault = path === undefined ? null : quickDifferenceOf(path, about)
      return fault === null
        ? null
        : `${source.label}: ${fault}; the plans are those of the old model. Compile ${path} again with 'ptlite compile', or move it away`
    },
    open: () => open('auto'),
    insteadOf(reason) {
      try {
        return open('eager')
      } catch (cause) {
        if (!(cause instanceof PtliteError)) throw cause
        throw new PtliteError(
          'UNSUPPORTED_FILE',
          `${source.label}: ${reason}; compile ${about.original} again with 'ptlite compile', or put it beside the file (${cause.message})`,
          { cause },
        )
      }
    },
  }
}
