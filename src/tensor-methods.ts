import { attach, detach, type DetachedTensor } from '../runtime/tensor/detached.js'
import { PublicTensor } from '../runtime/tensor/public-tensor.js'
import { type JSONOptions, tensorAsJSON, tensorOfJSON } from '../runtime/tensor/json.js'
import { tensorAsPrinted } from '../runtime/tensor/printed.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { eager } from './lazy.js'
import { METHODS } from './values/generated/tensor-methods.js'
import { rowsOf } from './values/method-table.js'

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

for (const [name, row] of rowsOf(METHODS))
  Object.defineProperty(Tensor.prototype, name, {
    value(this: Tensor, ...args: readonly unknown[]) {
      return eager().tensorOperation(row, this, args)
    },
  })

Object.defineProperties(Tensor.prototype, {
  at: {
    value(this: Tensor, ...indices: readonly number[]) {
      return indices.reduce((t, index) => t.select(0, index), Tensor.own(this))
    },
  },
  // PyTorch's tensors without dimensions cannot be iterated over either: they have no iterator at all, by which programs tell
  [Symbol.iterator]: {
    get(this: Tensor) {
      return Tensor.own(this).dim > 0 ? rows : undefined
    },
  },
})

function* rows(this: Tensor): Generator<Tensor> {
  for (let i = 0; i < this.shape[0]!; i++) yield this.select(0, i)
}
