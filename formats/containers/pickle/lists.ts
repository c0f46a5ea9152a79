import { damaged, unexpected } from '../../../program/file-error.js'
import { PickleGlobal } from './global.js'
import type { PickleMeaning } from './unpickler.js'

function refuse(): never {
  throw damaged('an object or a call where there are only plain values')
}

/** Debug records hold plain values: the only global in them marks lists of ints. */
export const LISTS_ONLY: PickleMeaning = {
  lookUp: (name) =>
    name === 'torch.jit._pickle.build_intlist'
      ? new PickleGlobal(name, ([list]) => {
          if (!Array.isArray(list)) throw unexpected('a list', list)
          return list
        })
      : undefined,
  persistentLoad: refuse,
  setState: refuse,
}
