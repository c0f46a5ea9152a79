import { argumentsOf } from '../../generation/arguments.js'
import { rolesOf } from '../../generation/roles.js'
import { cacheKindOf } from '../../generation/steps/begin.js'
import { Caller } from '../../generation/steps/caller.js'
import { FixedSteps } from '../../generation/steps/fixed.js'
import { PtliteError } from '../../runtime/error.js'
import type { PlannedCall } from '../ahead.js'
import type { Module } from '../index.js'

/** Tokens of a call, where the program leaves that free: prompts are read in the largest that fit. */
const SIZES = [1, 4, 16, 64, 256]

/** Methods without arguments that say what generation asks for. */
const SAYS = /^get_(eos_ids?|max_context_len|max_seq_len)$/

/** The calls that generation makes of a language model with a cache in its buffers, or of fixed size; null for other models. */
export function tokenRuns(module: Module): PlannedCall[] | null {
  try {
    if (!module.methods.includes('forward')) return null
    const slots = rolesOf(module.inputs)
    if (cacheKindOf(slots) !== 'buffers') return null
    // plans would be for the first place alone
    if (slots.some(({ role, info }) => role === 'place' && info.type !== 'Tensor')) return null
    const caller = new Caller(module, slots, { given: new Map() })
    const { chunk } = new FixedSteps(caller)
    const sizes = caller.width === null ? SIZES.filter((size) => size <= chunk) : [caller.width]
    const calls = sizes.map((width): PlannedCall => {
      const args = argumentsOf(slots, { tokens: new Array<number>(width).fill(0), start: 0, width, past: [], given: new Map() })
      return { method: 'forward', args, ...(width > 1 && caller.width === null && { outputs: 'last' }) }
    })
    return [...calls, ...module.methods.filter((name) => SAYS.test(name)).map((method) => ({ method, args: [] }))]
  } catch (error) {
    // it takes no tokens, or more than generation knows of
    if (error instanceof PtliteError && error.code === 'INVALID_ARGUMENT') return null
    throw error
  }
}
