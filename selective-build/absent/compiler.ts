import type * as whole from '../../compiler/index.js'
import { PtliteError } from '../../runtime/error.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import type { LinkedFunction } from '../../runtime/interpreter/program.js'
import type { RunOptions } from '../../runtime/interpreter/run.js'
import type { ScriptModule } from '../../runtime/module/script-module.js'
import type { Value } from '../../runtime/tensor/value.js'

/** Interprets every call: plans are not in selective builds. */
export class TieredModule implements Pick<whole.TieredModule, 'call' | 'callProfiled' | 'compile' | 'planFor' | 'plans' | 'dispose'> {
  constructor(private readonly script: ScriptModule) {}

  call(fn: LinkedFunction, args: readonly Value[], options: RunOptions = {}): Value {
    return this.script.call(fn, args, options)
  }

  compile(): never {
    throw new PtliteError('INVALID_ARGUMENT', `the compiler is not in this build${HOW_TO_EXTEND}`)
  }

  planFor(): never {
    return this.compile()
  }

  callProfiled(): never {
    return this.compile()
  }

  plans(): [] {
    return []
  }

  dispose(): void {}
}
