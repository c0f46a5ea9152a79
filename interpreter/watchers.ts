import type { Profiler } from './profile.js'
import type { RunRecorder } from './run-state.js'
import type { Run } from './run-state.js'
import * as features from '../runtime/features.js'

/** Who watches a run, for the loop. */

/**
 * An opcode of no file: whoever puts it in the place of an instruction is told when it is reached, and puts the instruction back. So
 * instructions can be watched at no cost to those that are not.
 */
export const TRAP = 255
type TrapHandler = (code: Int32Array, at: number) => void
export let trapHandler: TrapHandler | null = null

/** Who is told of traps: the code and the place of the opcode in it. Must put another opcode there. */
export function setTrapHandler(handler: TrapHandler | null): void {
  trapHandler = handler
}

export function recorderOf(run: Run): RunRecorder | null {
  return features.compiler ? run.recorder : null
}

export function profilerOf(run: Run): Profiler | null {
  return features.compiler ? run.profiler : null
}
