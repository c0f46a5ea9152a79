import { HOW_TO_EXTEND } from '../runtime/build.js'
import { PtliteError } from '../runtime/error.js'
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
    return Promise.reject(without('the background thread'))
  }

  compile(): Promise<never> {
    return Promise.reject(without('the compiler'))
  }

  explain(): never {
    throw without('the compiler')
  }

  arena(): never {
    throw without('the compiler')
  }
}

function without(part: string): PtliteError {
  return new PtliteError('INVALID_ARGUMENT', `${part} is not in this build${HOW_TO_EXTEND}`)
}
