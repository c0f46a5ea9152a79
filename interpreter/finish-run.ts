import { enterPace } from '../runtime/pace.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { reachable } from '../program/reach.js'
import type { Run } from './run-state.js'
import * as features from '../runtime/features.js'

/** Leaves results, what was put into arguments and what attributes hold to the garbage collector. */
export function finishRun(run: Run, result: Value, args: readonly Value[]): void {
  // memory is given back whether there is time or not
  const pace = enterPace(null)
  try {
    settleRun(run, result, args)
  } finally {
    enterPace(pace)
  }
}

function settleRun({ program, lifetimes, roots }: Run, result: Value, args: readonly Value[]): void {
  if (!features.containers) {
    if (result instanceof Tensor) result.storage.watch()
    return
  }
  for (const t of reachable([result])) t.storage.watch()
  const { root } = program
  const containers = args.filter((v) => v !== root && isContainer(v))
  // what was an attribute may be in a list or dict of the caller's, and be none any more
  if (containers.length > 0) for (const t of reachable(containers)) t.storage.watch()
  if (lifetimes.pinned.length === 0) return
  lifetimes.sweep([result, ...roots])
  for (const t of lifetimes.pinned) {
    // others may view its memory when it is overwritten
    t.storage.watch()
    // its lists may be those of an argument
    Tensor.expose(t)
  }
}

function isContainer(value: Value): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Tensor)
}
