import { randomFillSync } from 'node:crypto'
import { allocate } from '../../../native/memory.js'
import * as kernels from '../../../native/generated/kernels.js'
import { noteRandom } from '../../../tensor/observe.js'

let state = 0

/** Address of this thread's generator. Before the first seed it starts from one that nobody knows. */
export function generator(): number {
  noteRandom()
  if (state === 0) seedGenerator(randomFillSync(new Int32Array(1))[0]!)
  return state
}

/** Starts the generator anew; as in PyTorch, the low 32 bits of the seed count. */
export function seedGenerator(seed: number): void {
  if (state === 0) state = allocate(kernels.random_state_bytes({}))
  kernels.random_seed({ state, seed: Number(BigInt.asIntN(32, BigInt(seed))) })
}
