import { fieldsOf } from '../../../runtime/bytes.js'
import { latin1TextOf } from '../../../runtime/encoding.js'
import { damaged, guarded, MAX_RANK, unsupported } from '../../../program/file-error.js'
import type { FilePart } from '../../containers/file-part.js'
import { FlatReader, type FlatTable } from '../../containers/flatbuffer/reader.js'
import type { ValueBudget } from '../../containers/value-budget.js'
import type { ProgramData } from '../data.js'
import { missingData } from '../attributes.js'
import { Datatype, Field, NODES, type NodeKind, Parameters, ValueUnion } from './schema.js'

/** How the numbers of a value are quantized. */
export type Quantization =
  | { readonly kind: 'tensor'; readonly scale: number; readonly zeroPoint: number }
  /** Zero points are 0. */
  | { readonly kind: 'channel'; readonly axis: number; readonly scales: () => Float32Array }
  /** Groups of columns have scales of their own. */
  | { readonly kind: 'group'; readonly groupSize: number; readonly scales: () => Float32Array }
  /** Each row by its own range, of so many of the last dimensions. */
  | { readonly kind: 'token'; readonly dims: number }

export interface GraphValue {
  readonly id: number
  readonly datatype: number
  /** Upper bounds. */
  readonly dims: readonly number[]
  readonly data: (() => FilePart) | null
  /** Tells equal data apart from others. */
  readonly dataKey: string
  /** Its place among the arguments of the delegate; meaningful where flags say that it is external. */
  readonly external: number
  readonly flags: number
  readonly quantization: Quantization | null
}

export interface GraphNode {
  readonly kind: NodeKind
  readonly table: FlatTable
  readonly min: number
  readonly max: number
}

export interface Graph {
  readonly values: ReadonlyMap<number, GraphValue>
  readonly nodes: readonly GraphNode[]
}

/** The header in front of newer payloads: its magic is behind four zeros. */
const HEADER = { magic: 'XH00', bytes: 30 }
const IDENTIFIERS = ['XN00', 'XN01']

/** Reads the payload of a delegate. */
export function readGraph(payload: FilePart, data: ProgramData, budget: ValueBudget): Graph {
  const magic = payload.size >= 8 ? latin1TextOf(payload.read(4, 4)) : ''
  const header = magic === HEADER.magic ? readHeader(payload) : null
  const flat = header === null ? payload : payload.part(header.start, header.size)
  const identifier = flat.size >= 8 ? latin1TextOf(flat.read(4, 4)) : ''
  if (!IDENTIFIERS.includes(identifier))
    throw damaged(`expected a graph of XNNPACK, found '${identifier.replaceAll(/[^\x20-\x7e]/g, '?')}'`)
  const root = new FlatReader(flat, undefined, budget, true).root()
  const constants = new Constants(root, flat, header?.constants ?? null, data)
  const values = new Map<number, GraphValue>()
  for (const table of root.tables(Field.graph.values)) {
    const value = readValue(table, constants)
    values.set(value.id, value)
  }
  const nodes = root.tables(Field.graph.nodes).map((table, i) => guarded(`node ${i}`, () => readNode(table)))
  return { values, nodes }
}

function readHeader(payload: FilePart) {
  const fields = fieldsOf(payload.read(0, HEADER.bytes))
  const [start, size, base] = [fields.getUint32(10, true), fields.getUint32(14, true), fields.getUint32(18, true)]
  const constants = Number(fields.getBigUint64(22, true))
  return { start, size, constants: constants === 0 ? null : payload.part(base, constants) }
}

/** The constants of a graph: behind its flatbuffer, in it, or in the program by name. */
class Constants {
  private readonly inline: readonly FlatTable[]
  private readonly tables: readonly FlatTable[]

  constructor(
    root: FlatTable,
    private readonly flat: FilePart,
    private readonly behind: FilePart | null,
    private readonly data: ProgramData,
  ) {
    this.inline = root.tables(Field.graph.constantBuffer)
    this.tables = root.tables(Field.graph.constantData)
  }

  get(index: number): FilePart {
    const table = this.tables[index]
    if (table === undefined) {
      const buffer = this.inline[index]
      if (buffer === undefined)
        throw damaged(`it refers to constant ${index}; there are ${Math.max(this.tables.length, this.inline.length)}`)
      const { start, length } = buffer.vector(Field.buffer.storage, 1)
      return this.flat.part(start, length)
    }
    const key = table.text(Field.constant.key)
    if (key !== '') {
      const found = this.data.find(key)
      if (found === undefined) throw missingData(key)
      return found
    }
    const { behind } = this
    if (behind === null) throw damaged(`constant ${index} is not in the payload`)
    return behind.part(Number(table.int64(Field.constant.offset)), Number(table.int64(Field.constant.size)))
  }

  keyOf(index: number): string {
    return this.tables[index]?.text(Field.constant.key) ?? ''
  }
}

function member(table: FlatTable, field: number): FlatTable {
  const found = table.table(field)
  if (found === null) throw damaged('a part of the graph is empty')
  return found
}

function readValue(table: FlatTable, constants: Constants): GraphValue {
  const kind = table.uint8(Field.value.kind)
  const own = member(table, Field.value.value)
  if (kind !== ValueUnion.plain && kind !== ValueUnion.quantized)
    throw unsupported(`a value of kind ${kind}, which is newer than this runtime`)
  const field = Field.tensor
  const tensor = kind === ValueUnion.plain ? own : member(own, Field.quantizedValue.tensor)
  const dims = tensor.uint32s(field.dims)
  if (dims.length > MAX_RANK) throw damaged(`a value of ${dims.length} dimensions`)
  const constant = tensor.uint32(field.constant)
  const id = tensor.uint32(field.id)
  const datatype = tensor.uint16(field.dtype)
  const isDynamic = tensor.uint16(field.dynamicDtype) === Datatype.qint8
  return {
    id,
    datatype,
    dims,
    data: constant === 0 ? null : () => constants.get(constant),
    dataKey: constants.keyOf(constant) || `${constant}`,
    external: tensor.uint32(field.external),
    flags: tensor.uint32(field.flags),
    quantization: isDynamic ? { kind: 'token', dims: 1 } : kind === ValueUnion.plain ? null : readParameters(own, datatype, constants),
  }
}

function readParameters(table: FlatTable, datatype: number, constants: Constants): Quantization {
  const kind = table.uint8(Field.quantizedValue.parameters)
  const own = member(table, Field.quantizedValue.parametersValue)
  const inline = (field: number) => (): Float32Array => Float32Array.from(own.list(field, 4, (at) => own.reader.float32(at)))
  switch (kind) {
    case Parameters.perTensor: {
      const { scale, zeroPoint } = Field.perTensor
      return { kind: 'tensor', scale: own.float32(scale), zeroPoint: own.int32(zeroPoint) }
    }
    case Parameters.perChannel: {
      const field = Field.perChannel
      const [index, count] = [own.uint32(field.constant), own.uint32(field.count)]
      const axis = own.int32(field.channelDim)
      return { kind: 'channel', axis, scales: index === 0 ? inline(field.scales) : () => floats(constants.get(index), count) }
    }
    case Parameters.perGroup: {
      const field = Field.perGroup
      const [index, count] = [own.uint32(field.constant), own.uint32(field.count)]
      const groupSize = own.int32(field.groupSize)
      return {
        kind: 'group',
        groupSize,
        scales: index === 0 ? () => rounded(inline(field.scales)()) : () => bfloats(constants.get(index), count),
      }
    }
    case Parameters.perToken:
      return { kind: 'token', dims: own.int32(Field.perToken.dims) }
    default:
      throw unsupported(`quantization of kind ${kind} (datatype ${datatype}), which is newer than this runtime`)
  }
}

function floats(part: FilePart, count: number): Float32Array {
  const fields = fieldsOf(part.read(0, 4 * count))
  return Float32Array.from({ length: count }, (_, i) => fields.getFloat32(4 * i, true))
}

function bfloats(part: FilePart, count: number): Float32Array {
  const fields = fieldsOf(part.read(0, 2 * count))
  const bits = Uint32Array.from({ length: count }, (_, i) => fields.getUint16(2 * i, true) * 65536)
  return new Float32Array(bits.buffer)
}

/** Scales of groups are of bfloat16, to the nearest even. */
function rounded(scales: Float32Array): Float32Array {
  const bits = new Uint32Array(scales.buffer, scales.byteOffset, scales.length)
  return new Float32Array(Uint32Array.from(bits, (x) => (x + 0x7fff + ((x >>> 16) & 1)) & 0xffff0000).buffer)
}

function readNode(table: FlatTable): GraphNode {
  const number = table.uint8(Field.node.kind)
  const kind = NODES[number]
  if (kind === undefined || kind === '') throw unsupported(`a node of kind ${number}, which is newer than this runtime`)
  const range = table.table(Field.node.range)
  return {
    kind,
    table: member(table, Field.node.value),
    min: range?.float32(Field.range.min) ?? -Infinity,
    max: range?.float32(Field.range.max) ?? Infinity,
  }
}
