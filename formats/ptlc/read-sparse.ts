import type { FlatTable } from '../containers/flatbuffer/reader.js'
import { dtypeFromCode } from '../../runtime/tensor/dtype.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { StoredBlocks } from '../../compiler/capture/captured.js'
import { faultOfBlocks } from '../../compiler/executor/stored-blocks.js'
import { numberAt } from './decode.js'
import { Field } from './schema.js'

/** Bytes that a kernel keeps of each block, whose values stay in the file. */
const KEPT_PER_BLOCK = 8
/** How often the weights of a file may be described: once for each form of arguments, say. */
const MAX_KEPT = 16

/** The block-sparse weights of a file whose data have `dataBytes`. Throws INVALID_FILE where one does not lie in its constant. */
export function readSparse(root: FlatTable, constants: readonly Storage[], dataBytes: number): StoredBlocks[] {
  let kept = 0
  return root.tables(Field.module.sparse).map((table, i) => {
    const stored = readStored(table)
    const fault = faultOfBlocks(stored, constants[stored.constant]?.byteLength ?? 0)
    if (fault !== null) throw table.reader.error(`sparse weight ${i}: ${fault}`)
    kept += KEPT_PER_BLOCK * stored.blocks
    if (kept > MAX_KEPT * dataBytes) throw table.reader.error('its sparse weights repeat themselves')
    return stored
  })
}

function readStored(table: FlatTable): StoredBlocks {
  const at = Field.sparse
  const ops = table.uint32s(at.ops)
  const numbers = table.list(at.numbers, 8, (place) => table.reader.float64(place))
  return {
    constant: table.uint32(at.constant),
    blocks: numberAt(table, at.blocks),
    width: table.uint32(at.width),
    description: {
      dtype: dtypeFromCode(table.int8(at.dtype)),
      n: numberAt(table, at.n),
      k: numberAt(table, at.k),
      m: numberAt(table, at.rows),
      form: table.uint8(at.form),
      has_bias: table.uint8(at.hasBias),
      post_ops: ops.length,
      ops,
      access: table.uint32s(at.access),
      p0: numbers.slice(0, ops.length),
      p1: numbers.slice(ops.length),
      p2: ops.map(() => 1),
    },
  }
}
