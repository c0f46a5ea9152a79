import type { ArenaUse } from '../compiler/index.js'
import type { ModelGraph } from '../program/graph-info.js'
import { absent, type PtliteError } from '../runtime/error.js'
import { type Limits, limitsOver } from '../runtime/limits.js'
import { withinLimits } from '../runtime/native/budget.js'
import type { Value } from '../runtime/tensor/value.js'
import type { CallSettings } from './engine.js'
import type { ScriptModule } from '../interpreter/script-module.js'
import { InterpretingEngine } from './interpreting-engine.js'

/** Interprets every call in the thread of the caller: that of builds without the compiler. */
export class PlainEngine extends InterpretingEngine {
  constructor(
    script: ScriptModule,
    private readonly limits: Limits | undefined,
  ) {
    super(script)
  }

  call(method: string, args: readonly Value[], { profiler, limits: own }: CallSettings): Value {
    if (profiler !== undefined) throw absent('what profiles calls', 'INVALID_ARGUMENT')
    const fn = this.script.method(method)
    return withinLimits(limitsOver(own, this.limits), () => this.script.call(fn, args))
  }

  run(): Promise<never> {
    return Promise.reject(absent('the background thread', 'INVALID_ARGUMENT'))
  }

  compile(): Promise<never> {
    return Promise.reject(noCompiler())
  }

  explain(): string {
    throw noCompiler()
  }

  graph(): ModelGraph {
    throw noCompiler()
  }

  arena(): ArenaUse {
    throw noCompiler()
  }
}

function noCompiler(): PtliteError {
  return absent('the compiler', 'INVALID_ARGUMENT')
}
