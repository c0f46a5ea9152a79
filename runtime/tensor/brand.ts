import type { TypedArray } from './data.js'

/**
 * Objects are known to other copies of the library by symbols that all copies in a process share, not by classes: a test runner loads the
 * library anew for each file, a program may have two versions of it, and the bundle for bundlers is another copy than dist/index.js.
 */

/** Method of tensors: what another copy reads of one. */
export const TENSOR = Symbol.for('ptlite.tensor')
/** Method of other values: what they are, as a name and parts. */
export const VALUE = Symbol.for('ptlite.value')

/** Says what the array that a TENSOR method returns means. */
export const LAYOUT = 2

/**
 * Arrays, as builds may rename fields. Of layout 2: dtype by name, shape, strides, quantization and a copy of the elements from the first to
 * the last in memory. Not their address: anybody can make an object with such a method.
 */
export type LentTensor = readonly [
  layout: number,
  dtype: string,
  shape: readonly number[],
  strides: readonly number[],
  quant: unknown,
  elements: TypedArray,
]
export type LentValue = readonly [kind: string, ...parts: unknown[]]
