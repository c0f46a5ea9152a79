import { PtliteError } from '../../error.js'
import type { Int } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import type { Value } from '../../tensor/value.js'
import { sameTensors } from './support/equality.js'
import { floatOf } from './support/scalar.js'
import { countWhere, findFloat, findWhere, isItem } from './list-search.js'

const findTensor = (list: Tensor[], el: Tensor): number => findWhere(list, (t) => sameTensors(t, el))

/** Throws MODEL_ERROR for a position of -1. */
function found(position: number, el: Value): number {
  if (position < 0)
    throw new PtliteError('MODEL_ERROR', `ValueError: ${typeof el === 'object' ? 'the element' : String(el)} is not in list`)
  return position
}

export function list_index(self: Value[], el: Int | boolean | string): number {
  return found(findWhere(self, isItem(el)), el)
}

export function list_index_float(self: Value[], el: number): number {
  return found(findFloat(self, el), el)
}

export function list_index_tensor(self: Tensor[], el: Tensor): number {
  return found(findTensor(self, el), el)
}

export function list_count(self: Value[], el: Int | boolean | string): number {
  return countWhere(self, isItem(el))
}

export function list_count_float(self: Value[], el: number): number {
  return countWhere(self, (v) => floatOf(v) === el)
}

export function list_count_tensor(self: Tensor[], el: Tensor): number {
  return countWhere(self, (t) => sameTensors(t, el))
}

/** Takes the first equal element out. Throws MODEL_ERROR where there is none. */
export function list_remove(self: Value[], el: Int | boolean | string): void {
  self.splice(found(findWhere(self, isItem(el)), el), 1)
}

export function list_remove_float(self: Value[], el: number): void {
  self.splice(found(findFloat(self, el), el), 1)
}

export function list_remove_tensor(self: Tensor[], el: Tensor): void {
  self.splice(found(findTensor(self, el), el), 1)
}
