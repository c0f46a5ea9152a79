import type { DTypeName } from '../runtime/tensor/dtype.js'
import { PublicTensor, type TensorType } from '../runtime/tensor/public-tensor.js'
import { Storage } from '../runtime/tensor/storage.js'
import { Tensor as Own } from '../runtime/tensor/tensor.js'

type CallersTensor<D extends DTypeName = DTypeName> = Own<D>

/** The class of all tensors, as callers know it. This module is evaluated after those that give it methods. */
const CallersTensor: TensorType = PublicTensor

export { CallersTensor as Tensor }

Object.defineProperties(PublicTensor, {
  prototype: { value: Own.prototype },
  fromStorage: { value: ((data, options) => Own.fromStorage(data, options)) satisfies typeof Own.fromStorage },
  [Symbol.hasInstance]: { value: (value: unknown) => typeof value === 'object' && value !== null && Own.isOne(value) },
})
Object.freeze(PublicTensor)
// callers reach these by what a tensor holds; other classes by `hide`, when there is an object of them
for (const { prototype } of [Own, Storage]) {
  Object.defineProperty(prototype, 'constructor', { value: PublicTensor })
  Object.freeze(prototype)
}
