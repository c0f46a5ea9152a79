import { PtliteError } from '../error.js'
import type { DetachedTensor } from './detached.js'
import type { Tensor } from './tensor.js'
import type { TypedArray } from './data.js'

/** What `Tensor` is to callers, who cannot make one by `new`: `instanceof` is true for tensors of this copy of the library, and not for what only looks like one. */
export type TensorType = (abstract new () => Tensor) & {
  readonly prototype: Tensor
  readonly fromStorage: typeof Tensor.fromStorage
  /** A tensor of what `detach` made, in this thread or another. Throws INVALID_ARGUMENT for anything else. */
  readonly from: (detached: DetachedTensor) => Tensor
  /** The tensor of what `toJSON` gave, or of its text. Throws INVALID_ARGUMENT for anything else. */
  readonly fromJSON: (json: unknown) => Tensor
}

/** Stands for the class, whose constructor believes what it is given. A value, not a function that another part of the build may stand in for. */
export const PublicTensor = Object.defineProperties(
  function () {
    throw new PtliteError('INVALID_ARGUMENT', 'tensors are made by tensor(), Tensor.fromStorage() and operators, not by new Tensor()')
  },
  { name: { value: 'Tensor' } },
) as unknown as TensorType

/** Makes a class of tensors or their parts unchangeable to callers, who can reach it by an object's prototype. */
export function hide({ prototype }: { readonly prototype: object }): void {
  if (!Object.isExtensible(prototype)) return
  Object.defineProperty(prototype, 'constructor', { value: PublicTensor })
  Object.freeze(prototype)
}

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
