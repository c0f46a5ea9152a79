import type { TensorOperations } from '../runtime/tensor/operations.js'
import { attach, detach, type DetachedTensor } from '../runtime/tensor/detached.js'
import { PublicTensor } from '../runtime/tensor/public-tensor.js'
import { inspectTensor, summaryOf } from '../runtime/tensor/summary.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { eager } from './lazy.js'

// not in the class, which lies below what they call
Object.defineProperties(Tensor.prototype, {
  detach: {
    value(this: Tensor) {
      return detach(Tensor.own(this))
    },
  },
  toJSON: {
    value(this: Tensor) {
      return summaryOf(Tensor.own(this))
    },
  },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: Tensor) {
      return inspectTensor(this)
    },
  },
})
for (const type of [Tensor, PublicTensor]) Object.defineProperty(type, 'from', { value: (detached: DetachedTensor) => attach(detached) })

const OPERATIONS: Readonly<Record<keyof TensorOperations, 1>> = {
  ...{ reshape: 1, flatten: 1, permute: 1, transpose: 1, squeeze: 1, unsqueeze: 1, slice: 1, select: 1, indexSelect: 1, to: 1, clone: 1 },
  ...{ add: 1, sub: 1, mul: 1, div: 1, matmul: 1, sum: 1, mean: 1, amax: 1, amin: 1, argmax: 1, softmax: 1, sigmoid: 1, topk: 1 },
}

for (const name of Object.keys(OPERATIONS) as (keyof TensorOperations)[])
  Object.defineProperty(Tensor.prototype, name, {
    value(this: Tensor, ...args: readonly unknown[]) {
      return eager().tensorOperation(name, this, args)
    },
  })
