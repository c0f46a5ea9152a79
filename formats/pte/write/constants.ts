import { readTensor } from '../../../runtime/tensor/data.js'
import type { Storage } from '../../../runtime/tensor/storage.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'

/** Constants begin at multiples of this. */
const ALIGNMENT = 16

/** The constants of a file, each of which is there once. Number 0 is none. */
export class ConstantTable {
  private readonly parts: Uint8Array[] = []
  private readonly numbers = new Map<string, number>()
  private readonly storages = new Map<Storage, number>()
  readonly offsets: number[] = [0]
  private size = 0

  /** The number of a tensor's elements, in order. */
  add(tensor: Tensor): number {
    const { storage, offset, shape, strides, dtype } = tensor
    const place = this.storages.get(storage) ?? this.storages.size
    this.storages.set(storage, place)
    const key = [place, dtype, offset, shape.join(), strides.join()].join(' ')
    let number = this.numbers.get(key)
    if (number === undefined) {
      number = this.offsets.push(this.size) - 1
      this.numbers.set(key, number)
      const elements = readTensor(tensor)
      this.parts.push(new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength))
      this.size += Math.ceil(elements.byteLength / ALIGNMENT) * ALIGNMENT
    }
    return number
  }

  /** All of them, one after the other. */
  bytes(): Uint8Array {
    const all = new Uint8Array(this.size)
    this.parts.forEach((part, i) => all.set(part, this.offsets[i + 1]!))
    return all
  }
}
