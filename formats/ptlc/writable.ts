import { describeSparse } from '../../runtime/operators/cpu/support/sparse-weight.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { fieldOf } from '../../compiler/capture/frame-layout.js'
import { isCheckable } from '../../compiler/frames/check-frame.js'
import type { AheadMethod, AheadPlan } from './module.js'

/** Why a file can hold no plans of a method with these arguments; null where it can. */
export function whyNoMethod(list: AheadMethod['arguments']): string | null {
  const found = list.find((argument) => argument.default !== undefined && tensorsOf([argument.default]).length > 0)
  return found === undefined ? null : `the default of ${found.name} is a tensor`
}

/** Why a plan can be in no file; null where it can. */
export function whyNoPlan({ example, captured }: Pick<AheadPlan, 'example' | 'captured'>): string | null {
  // where another pair of arguments shares memory the plan does not hold, which a call can tell only of one tensor given twice
  const tensors = tensorsOf(example)
  if (tensors.some((t, i) => tensors[captured.aliases[i]!] !== t)) return 'arguments share memory'
  for (const { layout, bytes } of captured.frames) {
    if (layout.fields.has('handle') && describeSparse(fieldOf(layout, bytes, 'handle')) === undefined)
      return `kernel ${layout.name} uses code or tables of this process`
    if (!isCheckable(layout.name)) return `kernel ${layout.name} declares no extents, so that a file could not be checked`
  }
  return null
}

/** Tensors of arguments, in order, one that occurs twice twice. */
export function tensorsOf(values: readonly Value[]): Tensor[] {
  return values.flatMap((value) => {
    if (value instanceof Tensor) return [value]
    if (Array.isArray(value)) return tensorsOf(value)
    if (value instanceof Tuple) return tensorsOf(value.items)
    return value instanceof Map ? tensorsOf([...value.values()]) : []
  })
}
