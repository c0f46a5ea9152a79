import { unexpected } from './file-error.js'
import { PickleGlobal } from './pickle-global.js'
import type { PickleMeaning } from './unpickler.js'

const INT_LIST = 'torch.jit._pickle.build_intlist'

/** Debug records hold plain values: the only global in them marks lists of ints. */
export const LISTS_ONLY: PickleMeaning = {
  global: (name) =>
    name === INT_LIST
      ? new PickleGlobal(name, ([list]) => {
          if (!Array.isArray(list)) throw unexpected('a list', list)
          return list
        })
      : undefined,
}
