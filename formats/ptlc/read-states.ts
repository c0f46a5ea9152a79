import * as kernels from '../../runtime/native/generated/kernels.js'
import { itemSize } from '../../runtime/tensor/dtype.js'
import { extentOf } from '../../runtime/tensor/shape.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { FlatTable } from '../containers/flatbuffer/reader.js'
import { type DecodedTensor, decodeTensor } from './decode.js'
import type { AheadState } from './module.js'
import { Field } from './schema.js'

/** States in the memory of a file's module: more are no model's. */
const MAX_STATES = 1 << 16
/** Bytes of them that any file may have, and for each byte of its data: caches of long conversations are zeros, which are there once. */
const [FREE_BYTES, BYTES_PER_BYTE] = [2 ** 30, 64]

/**
 * What calls change, each in memory of its own with what it holds at first; several may have one constant for that, such as zeros. They are all there or, where the
 * memory does not suffice, none is. Throws INVALID_FILE.
 */
export function readStates(root: FlatTable, constants: readonly Storage[], dataBytes: number): AheadState[] {
  const contents = root.uint32s(Field.module.memories).map((number) => {
    const constant = constants[number]
    if (constant === undefined) throw root.reader.error(`there is no constant ${number}`)
    return constant
  })
  const described = describedStates(root)
  const bytes = contents.reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (Math.max(contents.length, described.length) > MAX_STATES || bytes > FREE_BYTES + BYTES_PER_BYTE * dataBytes)
    throw root.reader.error('what its calls change is too much')
  for (const { mark, target, offset } of described) {
    const content = contents[target.index]
    if (content === undefined || (offset + extentOf(mark.shape, mark.strides)) * itemSize(mark.type) > content.byteLength)
      throw root.reader.error('a state is outside of its memory')
  }
  const memories: Storage[] = []
  try {
    for (const content of contents) memories.push(copyOf(content))
  } catch (error) {
    for (const storage of memories) storage.free()
    throw error
  }
  return described.map(({ name, slots, mark, target, offset }) => {
    const tensor = new Tensor(memories[target.index]!, offset, mark.shape, mark.strides, mark.type, mark.quant)
    tensor.pinned = true
    return { name, slots, tensor }
  })
}

/** States as the file describes them, without memory. Throws INVALID_FILE. */
export function describedStates(root: FlatTable): (DecodedTensor & Pick<AheadState, 'name' | 'slots'>)[] {
  return root.tables(Field.module.states).map((table) => {
    const tensor = table.table(Field.state.tensor)
    if (tensor === null) throw root.reader.error('a state is missing')
    return { ...decodeTensor(tensor), name: table.text(Field.state.name), slots: table.uint32s(Field.state.slots) }
  })
}

function copyOf(content: Storage): Storage {
  const bytes = content.byteLength
  const storage = Storage.allocate(bytes)
  if (bytes > 0) kernels.mem_copy({ to: storage.address, from: content.address, bytes })
  storage.watch()
  return storage
}
