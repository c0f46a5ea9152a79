import type { LoadOptions } from '../../engine/options.js'
import { planning } from '../../engine/lazy.js'
import { openEngine } from '../../engine/open.js'
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

/** The bytes of a `.ptlc` file with plans of these calls; null where one of them can have none. Closes the source. */
export async function compiled(
  source: ByteSource,
  name: string,
  calls: readonly CachedCall[],
  options: LoadOptions,
): Promise<Uint8Array | null> {
  const engine = await stepByStep(openEngine(source, { ...options, compile: 'eager', onWarning: () => undefined }, source))
  try {
    if (!(engine instanceof ProgramEngine)) return null
    await planning.ready()
    const { changes, ...ahead } = engine.planAhead(calls.map(({ method, args }) => ({ method, args: fitArguments(engine, method, args) })))
    // plans of what calls change take a module that was just loaded
    if (ahead.unplanned.length > 0 || changes.calls.size + changes.state.length > 0) return null
    return writeAhead({
      ...ahead,
      library: PLAN_VERSION,
      level: cpu.currentLevel(),
      levels: cpu.levelsInUse(),
      // nothing is looked for beside a file that lies in a cache
      ...{ original: name, originalBytes: source.size, fingerprint: '', sha256: '' },
      bytecodeVersion: engine.bytecodeVersion,
      operatorVersion: engine.operatorVersion,
      operators: engine.operators,
    })
  } catch (error) {
    if (error instanceof PtliteError && error.code === 'INVALID_ARGUMENT') return null
    throw error
  } finally {
    engine.dispose()
  }
}
