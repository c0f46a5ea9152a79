import { unsupported } from '../../../program/file-error.js'
import type { FilePart } from '../../containers/file-part.js'
import type { ValueBudget } from '../../containers/value-budget.js'
import type { Attributes } from '../attributes.js'
import type { ProgramData } from '../data.js'
import type { Kernel } from '../kernel.js'
import type { Plan } from '../plan.js'

/** The name of the backend. */
export const XNNPACK = 'XnnpackBackend'

export interface DelegateContext {
  readonly data: ProgramData
  readonly budget: ValueBudget
  readonly attributes: Attributes
  readonly plan: Plan
}

export function xnnpackKernel(payload: FilePart, context: DelegateContext): Kernel {
  throw unsupported(`xnnpack ${payload.size} ${context.plan.name}`)
}
