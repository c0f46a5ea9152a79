import { absent, type PtliteError } from '../runtime/error.js'
import { type Input, type Output, toOutput } from './convert.js'
import { InterpretedModule } from './interpreted-module.js'
import type * as whole from './scripted-module.js'

/** Stands for src/scripted-module.ts in selective builds: interprets every call in the thread of the caller. */
export class ScriptedModule
  extends InterpretedModule
  implements Pick<whole.ScriptedModule, 'call' | 'run' | 'compile' | 'explain' | 'arena' | 'plans' | 'dispose'>
{
  call(method: string, args: readonly Input[] = []): Output {
    const fn = this.script.method(method)
    return toOutput(this.script.call(fn, this.fit(fn, args)))
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

  arena(): never {
    throw noCompiler()
  }
}

function noCompiler(): PtliteError {
  return absent('the compiler', 'INVALID_ARGUMENT')
}
