import { float, int, type Input, loadModule, type Module, PtliteError, Tensor, tensor } from '../../../src/index.js'
import type { Base } from '../harness/target.js'

/** A call of a method that ends well with the file as it was. */
export interface Call {
  readonly method: string
  readonly args: () => Input[]
}

const floats = (...shape: number[]): Tensor =>
  tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i + 1)),
    shape,
  )
const ints = (...shape: number[]): Tensor =>
  tensor(
    BigInt64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => BigInt(i % 4)),
    shape,
  )

/** Arguments that methods of small models take, the likelier ones first. */
const ARGUMENTS: readonly (() => Input[])[] = [
  () => [],
  ...[[2, 3], [1, 4], [4], [2, 4], [1, 3, 8, 8], [1, 1, 8, 8], [1, 3, 16, 16], [2, 3, 4], [1, 8], [2, 8], [8], [3, 4, 4], [1, 16], [5, 1, 8], [1, 3, 32, 32], [1, 4, 8, 8], [1, 2, 8, 8]].map((shape) => () => [floats(...shape)]),
  ...[[1, 8], [6]].map((shape) => () => [ints(...shape)]),
  () => [int(3)],
  () => [int(3), int(2)],
  () => [floats(2, 4), floats(2, 4)],
  () => [floats(1, 4), []],
  () => [floats(2, 3), int(1)],
  () => [floats(2, 3), float(0.5)],
  () => [floats(1, 4), true],
  () => ['text'],
] // prettier-ignore

const known = new Map<string, Promise<readonly Call[]>>()

/** Calls of a file's methods, found out with the file as it was. */
export function callsOf(base: Base): Promise<readonly Call[]> {
  let calls = known.get(base.name)
  if (calls === undefined) known.set(base.name, (calls = findCalls(base)))
  return calls
}

async function findCalls({ bytes }: Base): Promise<readonly Call[]> {
  let module: Module
  try {
    module = await loadModule(bytes, { compile: 'off', maxIterations: 1000, onWarning: () => undefined })
  } catch (error) {
    if (error instanceof PtliteError) return [{ method: 'forward', args: () => [floats(2, 3)] }]
    throw error
  }
  try {
    return module.methods.map((method) => ({
      method,
      args: ARGUMENTS.find((args) => isTaken(module, method, args())) ?? (() => [floats(2, 3)]),
    }))
  } finally {
    module.dispose()
  }
}

function isTaken(module: Module, method: string, args: Input[]): boolean {
  try {
    disposeAll(module.call(method, args))
    return true
  } catch (error) {
    if (error instanceof PtliteError) return false
    throw error
  } finally {
    disposeAll(args)
  }
}

/** Gives the memory of tensors back, in whatever they are. */
export function disposeAll(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  if (value instanceof Tensor) value.dispose()
  else if (Array.isArray(value)) for (const item of value) disposeAll(item, seen)
  else if (value instanceof Map) for (const item of value.values()) disposeAll(item, seen)
}
