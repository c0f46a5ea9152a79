import type { Value } from '../tensor/value.js'
import { damaged, describe } from './file-error.js'
import type { PickleGlobal } from './pickle-global.js'
import type { PickleMeaning } from './unpickler.js'

/** Debug records hold plain values: the only global in them marks lists of ints. */
export class ListOnlyGlobals implements PickleMeaning {
  constructor(readonly label: string) {}

  allows(module: string, name: string): boolean {
    return module === 'torch.jit._pickle' && name === 'build_intlist'
  }

  call(_global: PickleGlobal, args: readonly Value[]): Value {
    const list = args[0]
    if (!Array.isArray(list)) throw damaged(`${this.label}: expected a list, found ${describe(list)}`)
    return list
  }

  persistentLoad(): Value {
    throw damaged(`${this.label}: a storage where there are none`)
  }

  instantiate(): Value {
    throw damaged(`${this.label}: an object where there are none`)
  }

  setState(): Value {
    throw damaged(`${this.label}: an object where there are none`)
  }
}
