import { DATATYPES } from '../protocol/datatypes.js'
import type { SentTensor } from './messages.js'

// typed arrays are alike; their methods have a common type only where one is named
type Elements = Float32Array

/** Tensors one behind the other along their first dimension. */
export function joinRows(sent: readonly SentTensor[]): SentTensor {
  const { datatype, shape } = sent[0]!
  let [rows, length] = [0, 0]
  for (const each of sent) {
    rows += each.shape[0]!
    length += each.data.length
  }
  const data = new DATATYPES[datatype].array(length) as Elements
  let at = 0
  for (const each of sent) {
    data.set(each.data as Elements, at)
    at += each.data.length
  }
  return { datatype, shape: [rows, ...shape.slice(1)], data }
}

/** Some rows of a tensor, where they are. */
export function rowsOf({ datatype, shape, data }: SentTensor, from: number, to: number): SentTensor {
  const length = shape[0] === 0 ? 0 : data.length / shape[0]!
  return { datatype, shape: [to - from, ...shape.slice(1)], data: data.subarray(from * length, to * length) }
}
