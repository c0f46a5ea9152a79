import { attach, detach, type DetachedTensor } from '../runtime/tensor/detached.js'
import { PublicTensor } from '../runtime/tensor/public-tensor.js'
import { inspectTensor, summaryOf } from '../runtime/tensor/summary.js'
import { Tensor } from '../runtime/tensor/tensor.js'

// not in the class: selective builds have no need of them
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
