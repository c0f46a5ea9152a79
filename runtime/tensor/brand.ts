/**
 * Objects are known to other copies of the library by symbols that all copies in a process share, not by classes: a test runner loads the
 * library anew for each file, a program may have two versions of it, and the bundle for bundlers is another copy than dist/index.js.
 */

/** Method of tensors: what another copy reads of one. */
export const TENSOR = Symbol.for('ptlite.tensor')
/** Method of other values: what they are, as a name and parts. */
export const VALUE = Symbol.for('ptlite.value')

/** Says what the array that a TENSOR method returns means. */
export const LAYOUT = 1

/** Arrays, as builds may rename fields. Of layout 1: dtype by name, shape, strides, quantization and the address of the first element. */
export type LentTensor = readonly [
  layout: number,
  dtype: string,
  shape: readonly number[],
  strides: readonly number[],
  quant: unknown,
  address: number,
]
export type LentValue = readonly [kind: string, ...parts: unknown[]]
