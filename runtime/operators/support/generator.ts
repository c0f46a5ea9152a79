import { check } from '../../error.js'
import { allocate } from '../../native/memory.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { RandomGenerator } from '../../tensor/value.js'
import { noteRandom } from '../../tensor/observe.js'
import { type Int, toInt } from '../../tensor/scalar.js'
import { enterScope } from '../../tensor/scope.js'
import { Storage } from '../../tensor/storage.js'
import { Tensor, viewOf } from '../../tensor/tensor.js'

let state = 0

/** Address of a generator's state, of this thread's own for null. Before the first seed that one starts from a seed that nobody knows. */
export function stateOf(generator: RandomGenerator | null): number {
  noteRandom()
  if (generator !== null) return tensorOf(generator).address
  if (state === 0) seedGenerator(crypto.getRandomValues(new Int32Array(1))[0]!)
  return state
}

/** Where this thread's generator keeps its state (`random_state_bytes` long) as long as the thread lives; 0 before it was first used. */
export function generatorAddress(): number {
  return state
}

/** Starts this thread's generator anew; as in PyTorch, the low 32 bits of the seed count. */
export function seedGenerator(seed: Int): void {
  if (state === 0) state = allocate(kernels.random_state_bytes({})).address
  kernels.random_seed({ state, seed: Number(BigInt.asIntN(32, BigInt(seed))) })
}

/** A generator that starts from this seed. */
export function newGenerator(seed: Int): RandomGenerator {
  const generator = new RandomGenerator()
  // it outlives the call that makes it: the garbage collector gives the memory back
  const before = enterScope(null)
  const words = new BigInt64Array(kernels.random_state_bytes({}) / 8 + 1)
  const tensor = new Tensor(Storage.holding(words), 0, [words.length], [1], DType.int64)
  tensor.pinned = true
  enterScope(before)
  generator.state = tensor
  restart(generator, seed)
  return generator
}

/** Starts a generator anew. */
export function restart(generator: RandomGenerator, seed: Int): void {
  const tensor = tensorOf(generator)
  noteRandom()
  kernels.random_seed({ state: tensor.address, seed: Number(BigInt.asIntN(32, BigInt(seed))) })
  const word = BigInt64Array.of(BigInt.asIntN(64, BigInt(seed)))
  kernels.mem_write({ address: tensor.address + (tensor.numel - 1) * 8, bytes: 8 }, word)
}

/** The seed that a generator started from. */
export function seedOf(generator: RandomGenerator): Int {
  const tensor = tensorOf(generator)
  return toInt((readTensor(viewOf(tensor, [1], [1], tensor.numel - 1)) as BigInt64Array)[0]!)
}

function tensorOf({ state }: RandomGenerator): Tensor {
  check(state instanceof Tensor, () => 'the generator has no state')
  return state
}
