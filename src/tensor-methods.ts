import { attach, detach, type DetachedTensor } from '../runtime/tensor/detached.js'
import { inspectTensor, summaryOf } from '../runtime/tensor/summary.js'
import { Tensor } from '../runtime/tensor/tensor.js'

// not in the class: selective builds have no need of them
Object.defineProperties(Tensor.prototype, {
  detach: {
    value(this: Tensor) {
      return detach(this)
    },
  },
  toJSON: {
    value(this: Tensor) {
      return summaryOf(this)
    },
  },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: Tensor) {
      return inspectTensor(this)
    },
  },
})
Object.defineProperty(Tensor, 'from', { value: (detached: DetachedTensor) => attach(detached) })
