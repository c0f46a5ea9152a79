import type { Module } from '../index.js'
import { type Input, Tensor, tensor } from '../index.js'

/** What a benchmark calls a method with, and where that came from. */
export interface BenchInputs {
  readonly args: readonly Input[]
  readonly source: string
}

/** The inputs that the exporter bundled with the model, if any: arguments of the first example. */
export function bundledInputs(module: Module): BenchInputs | null {
  if (!module.methods.includes('get_all_bundled_inputs')) return null
  const examples = module.call('get_all_bundled_inputs')
  const first = Array.isArray(examples) ? examples[0] : undefined
  return Array.isArray(first) ? { args: first as Input[], source: "the model's bundled inputs" } : null
}

/** Uniform numbers in [-1, 1), the same in every process. */
export function randomTensor(shape: readonly number[]): Tensor {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1))
  let state = 42
  for (let i = 0; i < data.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    data[i] = state / 2 ** 31 - 1
  }
  return tensor(data, shape)
}

/**
 * Tries one tensor argument of the shapes that a first layer with these weights may take (4-d weights are a convolution's,
 * 3-d a 1-d convolution's, 2-d a linear layer's or an embedding's) until the method accepts one; null if it takes none.
 */
export function guessInputs(module: Module, method: string, weights: readonly Tensor[]): BenchInputs | null {
  for (const candidate of candidates(weights)) {
    try {
      dispose(module.call(method, [candidate]))
      return { args: [candidate], source: `a guess from the weights: ${candidate.dtype}[${candidate.shape.join(', ')}]` }
    } catch {
      candidate.dispose()
    }
  }
  return null
}

function* candidates(weights: readonly Tensor[]): Generator<Tensor> {
  for (const rank of [4, 3, 2]) {
    const first = weights.find((w) => w.shape.length === rank)
    if (first === undefined) continue
    const channels = first.shape[1]!
    if (rank === 4) for (const size of [224, 128, 64, 32, 28, 16, 8]) yield randomTensor([1, channels, size, size])
    if (rank === 3) for (const size of [1000, 128, 32]) yield randomTensor([1, channels, size])
    if (rank === 2) {
      yield randomTensor([1, channels])
      yield randomTensor([channels])
      yield tensor(new BigInt64Array(32), [1, 32])
      yield randomTensor([1, 32, channels])
    }
  }
}

/** Gives the tensors of a result back, so that timing does not wait for the garbage collector. */
export function dispose(value: unknown): void {
  if (value instanceof Tensor) value.dispose()
  else if (Array.isArray(value)) value.forEach(dispose)
  else if (value instanceof Map) for (const item of value.values()) dispose(item)
}
