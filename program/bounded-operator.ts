import { limitBlocks } from '../runtime/native/memory.js'
import { numelOf, sameShape, shapeText } from '../runtime/tensor/shape.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Stack, Value } from '../runtime/tensor/value.js'
import type { ResultBounds, ResultSizes } from './code.js'
import { damaged } from './file-error.js'
import type { LinkedOperator } from './linked.js'

/**
 * An operator whose results have the sizes that a file says: its calls throw INVALID_FILE where they would not. So whatever follows in the file takes no more memory than it says.
 * Tensors that are made on the way to a result are not described there; those that are out of all proportion are refused before there is memory for them.
 */
export function boundedOperator(linked: LinkedOperator, bounds: ResultBounds): LinkedOperator {
  const refuse = (bytes: number): never => {
    const said = bounds.results.flatMap((sizes) => (sizes === null ? [] : [textOf(sizes)])).join(', ')
    throw damaged(`${bounds.of} asks for ${bytes} bytes; the file says ${said || 'less'}`)
  }
  // operators of the program's own do as they like on their way
  const limit = linked.entry?.source === null ? { bytes: bounds.bytes, refuse } : null
  const call = (stack: Stack): void => {
    limitBlocks(limit)
    try {
      linked.call(stack)
    } finally {
      limitBlocks(null)
    }
    checkResults(bounds, stack, stack.top - linked.returns)
  }
  return { ...linked, call }
}

function checkResults({ of, results }: ResultBounds, stack: Stack, base: number): void {
  let at = 0
  const check = (value: Value): void => {
    if (Array.isArray(value)) value.forEach(check)
    else if (value instanceof Tensor) {
      const said = results[at++] ?? null
      if (said !== null && !fits(value.shape, said)) throw damaged(`${of} gives ${shapeText(value.shape)}; the file says ${textOf(said)}`)
    }
  }
  for (let i = base; i < stack.top; i++) check(stack.values[i]!)
}

function fits(shape: readonly number[], { sizes, areBounds }: ResultSizes): boolean {
  return areBounds ? shape.length === sizes.length && numelOf(shape) <= numelOf(sizes) : sameShape(shape, sizes)
}

function textOf({ sizes, areBounds }: ResultSizes): string {
  return `${areBounds ? 'at most ' : ''}${shapeText(sizes)}`
}
