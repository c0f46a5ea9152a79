import { PtliteError } from '../error.js'
import type { DetachedTensor } from './detached.js'
import type { Tensor } from './tensor.js'

/** What `Tensor` is to callers, who cannot make one by `new`: `instanceof` is true for tensors of this copy of the library, and not for what only looks like one. */
export type TensorType = (abstract new () => Tensor) & {
  readonly prototype: Tensor
  readonly fromStorage: typeof Tensor.fromStorage
  /** A tensor of what `detach` made, in this thread or another. Throws INVALID_ARGUMENT for anything else. Not in selective builds. */
  readonly from: (detached: DetachedTensor) => Tensor
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
