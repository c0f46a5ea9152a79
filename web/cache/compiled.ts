import type { LoadOptions } from '../../engine/options.js'
import { openProgramEngine } from '../../engine/open-program.js'
import type { ByteSource } from '../../formats/containers/bytes.js'
import { writeAhead } from '../../formats/ptlc/write.js'
import { PtliteError } from '../../runtime/error.js'
import { cpu } from '../../runtime/native/cpu.js'
import { PLAN_VERSION } from '../../runtime/version.js'
import { fitArguments } from '../../src/fit.js'
import type { Input } from '../../src/convert.js'

/** A call that a plan is made for. */
export interface CachedCall {
  readonly method: string
  readonly args: readonly Input[]
}

/** The bytes of a `.ptlc` file with plans of these calls; null where one of them can have none. Closes the source where it gives one. */
export function compiled(source: ByteSource, name: string, calls: readonly CachedCall[], options: LoadOptions): Uint8Array | null {
  const engine = openProgramEngine(source, { ...options, onWarning: () => undefined })
  try {
    const ahead = engine.planAhead(calls.map(({ method, args }) => ({ method, args: fitArguments(engine, method, args) })))
    if (ahead.unplanned.length > 0) return null
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
