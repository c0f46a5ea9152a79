import { InterpretingEngine } from '../../engine/interpreting-engine.js'
import type * as whole from '../../engine/program-engine.js'
import { absent, type PtliteError } from '../../runtime/error.js'
import type { Value } from '../../runtime/tensor/value.js'

/** Builds without the compiler interpret every call in the thread of the caller. */
export class ProgramEngine
  extends InterpretingEngine
  implements Pick<whole.ProgramEngine, 'call' | 'run' | 'compile' | 'explain' | 'graph' | 'arena' | 'plans' | 'dispose'>
{
  call(method: string, args: readonly Value[]): Value {
    return this.script.call(this.script.method(method), args)
  }

  run(): Promise<never> {
    return Promise.reject(absent('the background thread', 'INVALID_ARGUMENT'))
  }

  compile(): Promise<never> {
    return Promise.reject(noCompiler())
  }

  explain(): never {
    throw noCompiler()
  }

  graph(): never {
    throw noCompiler()
  }

  arena(): never {
    throw noCompiler()
  }
}

function noCompiler(): PtliteError {
  return absent('the compiler', 'INVALID_ARGUMENT')
}
