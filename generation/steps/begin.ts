import { inputsOf } from '../inputs.js'
import type { LanguageModel } from '../language-model.js'
import { fixedSize, rolesOf, type Slot } from '../roles.js'
import { type Around, Caller } from './caller.js'
import { FixedSteps } from './fixed.js'
import { GrowingSteps } from './growing.js'
import { RowSteps, takesRows } from './rows.js'
import type { Steps } from './steps.js'
import { WholeSteps } from './whole.js'

/** How a model keeps what it has seen. */
export type CacheKind = 'buffers' | 'fixed' | 'growing' | 'none'

/** By what it takes: places in a cache, keys and values, or tokens alone. */
export function cacheKindOf(slots: readonly Slot[]): CacheKind {
  const past = slots.filter(({ role }) => role === 'past')
  const isFixed = past.every(({ info }) => info.shape?.every((size, i) => i === 0 || fixedSize(size) !== null) === true)
  const hasPlace = slots.some(({ role }) => role === 'place')
  if (past.length === 0) return hasPlace ? 'buffers' : 'none'
  return hasPlace && isFixed ? 'fixed' : 'growing'
}

/** Before the first token. Throws INVALID_ARGUMENT for models that are no language models. */
export function beginSteps(model: LanguageModel, around: Around): Steps {
  const planned = rolesOf(inputsOf(model))
  const kind = cacheKindOf(planned)
  if (kind === 'buffers' || kind === 'fixed') return new FixedSteps(new Caller(model, planned, around))
  // the model beside the file takes any length
  const caller = new Caller(model, rolesOf(model.inputs), around)
  if (kind === 'none') return new WholeSteps(caller)
  return takesRows(caller) ? new RowSteps(caller) : new GrowingSteps(caller)
}
