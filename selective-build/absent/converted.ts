import { absent } from '../../runtime/error.js'
import { type DType, dtypeName } from '../../runtime/tensor/dtype.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'

export function converted(t: Tensor, type: DType): never {
  throw absent(`the conversion of ${t.dtype} to ${dtypeName(type)}`)
}

export function isHeld(): boolean {
  return false
}
