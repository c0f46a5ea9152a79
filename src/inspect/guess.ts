import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Input } from '../values/convert.js'
import type { Module } from '../module.js'
import { tensor } from '../values/tensor.js'
import { tensorsIn } from './tensors-in.js'

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
export function randomNumbers(count: number): Float32Array {
  const data = new Float32Array(count)
  let state = 42
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    data[i] = state / 2 ** 31 - 1
  }
  return data
}

export function randomTensor(shape: readonly number[]): Tensor {
  return tensor(randomNumbers(shape.reduce((a, b) => a * b, 1)), shape)
}

/**
 * Tries one tensor argument of the shapes that some layer with these weights may take (4-d weights are a convolution's,
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
  // the first layer tends to have the fewest channels, wherever it stands in the file
  for (const channels of inputSizes(weights, 4))
    for (const size of [224, 128, 64, 32, 28, 16, 8]) yield randomTensor([1, channels, size, size])
  for (const channels of inputSizes(weights, 3)) for (const size of [1000, 128, 32]) yield randomTensor([1, channels, size])
  for (const features of inputSizes(weights, 2))
    for (const shape of [[1, features], [features], [1, 32, features]]) yield randomTensor(shape)
  // positions may fix the length of a text
  const lengths = weights.filter((w) => w.shape.length >= 2).map((w) => w.shape.at(-2)!)
  for (const length of new Set([32, ...lengths.filter((n) => n > 1 && n <= 1024)])) yield tensor(new BigInt64Array(length), [1, length])
}

/** The different input channels or features of weights of this rank, fewest first. */
function inputSizes(weights: readonly Tensor[], rank: number): number[] {
  const sizes = new Set(weights.filter((w) => w.shape.length === rank).map((w) => w.shape[1]!))
  return [...sizes].sort((a, b) => a - b).slice(0, 6)
}

/** Gives the tensors of a result back, so that timing does not wait for the garbage collector. */
export function dispose(value: unknown): void {
  for (const tensor of tensorsIn(value)) tensor.dispose()
}
