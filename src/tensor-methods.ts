import type { TensorOperations } from '../runtime/tensor/operations.js'
import { attach, detach, type DetachedTensor } from '../runtime/tensor/detached.js'
import { PublicTensor } from '../runtime/tensor/public-tensor.js'
import { type JSONOptions, tensorAsJSON, tensorOfJSON } from '../runtime/tensor/json.js'
import { tensorAsPrinted } from '../runtime/tensor/printed.js'
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
    // JSON.stringify passes the key of what it writes
    value(this: Tensor, options?: JSONOptions | string) {
      return tensorAsJSON(Tensor.own(this), typeof options === 'string' || options === undefined ? {} : options)
    },
  },
  toString: {
    value(this: Tensor) {
      return tensorAsPrinted(Tensor.own(this))
    },
  },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: Tensor) {
      return tensorAsPrinted(Tensor.own(this))
    },
  },
})
for (const type of [Tensor, PublicTensor])
  Object.defineProperties(type, {
    from: { value: (detached: DetachedTensor) => attach(detached) },
    fromJSON: { value: (json: unknown) => tensorOfJSON(json) },
  })

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
