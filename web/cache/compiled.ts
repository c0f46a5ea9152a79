import type { LoadOptions } from '../../engine/options.js'
import { planning } from '../../engine/lazy.js'
import { openEngine } from '../../engine/open.js'
import type { Changes } from '../../engine/plan-ahead.js'
import { ProgramEngine } from '../../engine/program-engine.js'
import type { ByteSource } from '../../formats/containers/bytes.js'
import { writeAhead } from '../../formats/ptlc/write.js'
import { stepByStep } from '../../formats/steps.js'
import { PtliteError } from '../../runtime/error.js'
import { cpu } from '../../runtime/native/cpu.js'
import { PLAN_VERSION } from '../../runtime/version.js'
import { fitArguments } from '../../src/fit.js'
import type { Input } from '../../src/values/convert.js'

/** A call that a plan is made for. */
export interface CachedCall {
  readonly method: string
  readonly args: readonly Input[]
}

/** The bytes of a `.ptlc` file with plans of these calls; null where one of them can have none. Closes the source; `again` gives another one with the same bytes. */
export async function compiled(
  source: ByteSource,
  again: () => ByteSource,
  name: string,
  calls: readonly CachedCall[],
  options: LoadOptions,
): Promise<Uint8Array | null> {
  for (let [own, known]: [ByteSource, Changes] = [source, { calls: new Map(), state: [] }]; ; own = again()) {
    const engine = await stepByStep(openEngine(own, { ...options, compile: 'eager', onWarning: () => undefined }, own))
    try {
      if (!(engine instanceof ProgramEngine)) return null
      await planning.ready()
      const { changes, ...ahead } = engine.planAhead(
        calls.map(({ method, args }) => ({ method, args: fitArguments(engine, method, args) })),
        known,
      )
      if (ahead.unplanned.length > 0 || changes.calls.size > 0) return null
      if (planning().areKnown(changes, known)) return writeAhead({ ...ahead, ...aboutModule(engine, name, own.size) })
      known = changes
    } catch (error) {
      if (error instanceof PtliteError && error.code === 'INVALID_ARGUMENT') return null
      throw error
    } finally {
      engine.dispose()
    }
  }
}

/** What the file says of the program that it is made from. */
function aboutModule({ bytecodeVersion, operatorVersion, operators }: ProgramEngine, name: string, bytes: number) {
  return {
    library: PLAN_VERSION,
    level: cpu.currentLevel(),
    levels: cpu.levelsInUse(),
    // nothing is looked for beside a file that lies in a cache
    ...{ original: name, originalBytes: bytes, fingerprint: '', sha256: '' },
    ...{ bytecodeVersion, operatorVersion, operators },
  }
}
