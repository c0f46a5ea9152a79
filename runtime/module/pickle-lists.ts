import { unexpected } from './file-error.js'
import type { PickleMeaning } from './unpickler.js'

/** Debug records hold plain values: the only global in them marks lists of ints. */
export const LISTS_ONLY: PickleMeaning = {
  allows: (name) => name === 'torch.jit._pickle.build_intlist',
  call: (_name, [list]) => {
    if (!Array.isArray(list)) throw unexpected('a list', list)
    return list
  },
}
