import { LAYOUT, type LentTensor, type LentValue, TENSOR, VALUE } from '../runtime/tensor/public-tensor.js'
import { readExtent } from '../runtime/tensor/data.js'
import { Complex, Float } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { CustomObject, Device, ScriptObject, Tuple } from '../runtime/tensor/value.js'

/** Gives the objects of this copy of the library what others know them by (runtime/tensor/public-tensor.ts). */
function brand<T extends object>(type: { readonly prototype: T }, symbol: symbol, parts: (object: T) => LentTensor | LentValue): void {
  Object.defineProperty(type.prototype, symbol, {
    value(this: T) {
      return parts(this)
    },
  })
}

brand<Tensor>(Tensor, TENSOR, (t) => [LAYOUT, t.dtype, t.shape, t.strides, t.quant, readExtent(Tensor.own(t))])
brand(Float, VALUE, (x) => ['float', x.value])
brand(Complex, VALUE, (x) => ['complex', x.re, x.im])
brand(Tuple, VALUE, (x) => ['tuple', x.items, x.fields])
brand(Device, VALUE, (x) => ['device', x.type, x.index])
brand(ScriptObject, VALUE, (x) => ['object', x.typeName])
brand(CustomObject, VALUE, (x) => ['object', x.className])
