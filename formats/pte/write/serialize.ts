import type { Offset } from 'flatbuffers'
import { fieldsOf } from '../../../runtime/bytes.js'
import { latin1 } from '../../../runtime/encoding.js'
import { FlatBuilder } from '../../containers/flatbuffer/builder.js'
import { Dynamism, Field, InstructionKind, ValueKind } from '../schema.js'
import type { ConstantTable } from './constants.js'
import type { Tables } from './method.js'
import type { WrittenPlan, WrittenValue } from './plan-writer.js'

const IDENTIFIER = 'ET12'
/** Of the extended header: its magic, length and three numbers. */
const HEADER_BYTES = 32
/** Behind the offset of the root and the identifier. */
const HEADER_AT = 8
/** Segments begin at multiples of this, as ExecuTorch writes them. */
const SEGMENT_ALIGNMENT = 128
/** The memory that tensors are in, and that of what methods share; number 0 is none. */
const ARENA = 1
const SHARED = 2

/**
 * A program in ExecuTorch's container: a flatbuffer with an extended header, and behind it a segment with the constants, and one with what tensors begin with that outlive
 * calls. `sharedBytes` is the size of the memory that methods share.
 */
export function serialize(
  plans: readonly WrittenPlan[],
  { constants, initial }: Pick<Tables, 'constants' | 'initial'>,
  sharedBytes: number,
): Uint8Array {
  const [own, kept] = [constants.bytes(), initial.bytes()]
  const keptAt = Math.ceil(own.length / SEGMENT_ALIGNMENT) * SEGMENT_ALIGNMENT
  const segments = [
    { table: constants, at: 0, bytes: own },
    { table: initial, at: keptAt, bytes: kept },
  ].filter(({ bytes }) => bytes.length > 0)
  const data = new Uint8Array(kept.length === 0 ? own.length : keptAt + kept.length)
  for (const { at, bytes } of segments) data.set(bytes, at)
  const flat = writeProgram(plans, segments, { constants, initial }, sharedBytes)
  const programBytes = flat.length + HEADER_BYTES
  const base = data.length === 0 ? 0 : Math.ceil(programBytes / SEGMENT_ALIGNMENT) * SEGMENT_ALIGNMENT
  const file = new Uint8Array(Math.max(programBytes, base + data.length))
  const fields = fieldsOf(file)
  // offsets in a flatbuffer are relative, but for that of the root
  fields.setUint32(0, fieldsOf(flat).getUint32(0, true) + HEADER_BYTES, true)
  file.set(latin1(IDENTIFIER), 4)
  file.set(latin1('eh00'), HEADER_AT)
  fields.setUint32(HEADER_AT + 4, HEADER_BYTES, true)
  fields.setBigUint64(HEADER_AT + 8, BigInt(programBytes), true)
  fields.setBigUint64(HEADER_AT + 16, BigInt(base), true)
  fields.setBigUint64(HEADER_AT + 24, BigInt(data.length), true)
  file.set(flat.subarray(HEADER_AT), HEADER_AT + HEADER_BYTES)
  file.set(data, base)
  return file
}

interface DataSegment {
  readonly table: ConstantTable
  readonly at: number
  readonly bytes: Uint8Array
}

function writeProgram(
  plans: readonly WrittenPlan[],
  data: readonly DataSegment[],
  { constants, initial }: Pick<Tables, 'constants' | 'initial'>,
  sharedBytes: number,
): Uint8Array {
  const builder = new FlatBuilder(0)
  const { program, segment, subsegments } = Field
  const segments = data.map(({ at, bytes }) =>
    builder.table(2, (b) => {
      b.addFieldInt64(segment.offset, BigInt(at), 0n)
      b.addFieldInt64(segment.size, BigInt(bytes.length), 0n)
    }),
  )
  const placesOf = (table: ConstantTable): Offset => {
    const list = builder.vector(table.offsets, 8, (b, offset) => b.addInt64(BigInt(offset)))
    const index = data.findIndex((one) => one.table === table)
    return builder.table(2, (b) => {
      b.addFieldInt32(subsegments.segment, Math.max(index, 0), 0)
      b.addFieldOffset(subsegments.offsets, list, 0)
    })
  }
  const parts = {
    plans: builder.offsets(plans.map((plan) => new PlanSerializer(builder, plan, sharedBytes).write())),
    constantBuffer: builder.offsets([]),
    delegates: builder.offsets([]),
    segments: builder.offsets(segments),
    constants: placesOf(constants),
    mutable: builder.offsets(initial.offsets.length > 1 ? [placesOf(initial)] : []),
    named: builder.offsets([]),
  }
  const root = builder.table(8, (b) => {
    b.addFieldOffset(program.plans, parts.plans, 0)
    b.addFieldOffset(program.constantBuffer, parts.constantBuffer, 0)
    b.addFieldOffset(program.delegateData, parts.delegates, 0)
    b.addFieldOffset(program.segments, parts.segments, 0)
    b.addFieldOffset(program.constantSegment, parts.constants, 0)
    b.addFieldOffset(program.mutableSegments, parts.mutable, 0)
    b.addFieldOffset(program.namedData, parts.named, 0)
  })
  return builder.finish(root, IDENTIFIER)
}

/** Whether a method has something in the memory that methods share. */
function hasShared({ values }: WrittenPlan): boolean {
  return values.some((value) => value.kind === 'tensor' && typeof value.kept?.offset === 'number')
}

class PlanSerializer {
  constructor(
    private readonly builder: FlatBuilder,
    private readonly written: WrittenPlan,
    private readonly sharedBytes: number,
  ) {}

  write(): Offset {
    const { builder, written } = this
    const { plan, chain, containers, operator } = Field
    const [inputTree, outputTree] = [builder.text(written.inputTree), builder.text(written.outputTree)]
    const instructions = builder.offsets(
      written.calls.map(({ operator: index, args }) => {
        const list = builder.int32s(args)
        const call = builder.table(2, (b) => {
          b.addFieldInt32(Field.kernelCall.operator, index, 0)
          b.addFieldOffset(Field.kernelCall.args, list, 0)
        })
        return this.union(InstructionKind.kernel, call)
      }),
    )
    const [inputs, outputs] = [builder.int32s(written.inputs), builder.int32s(written.outputs)]
    const parts = {
      name: builder.text(written.name),
      containers: builder.table(2, (b) => {
        b.addFieldOffset(containers.inputs, inputTree, 0)
        b.addFieldOffset(containers.outputs, outputTree, 0)
      }),
      values: builder.offsets(written.values.map((value, i) => this.value(value, written.offsets.get(i)))),
      chains: builder.offsets([
        builder.table(4, (b) => {
          b.addFieldOffset(chain.inputs, inputs, 0)
          b.addFieldOffset(chain.outputs, outputs, 0)
          b.addFieldOffset(chain.instructions, instructions, 0)
        }),
      ]),
      operators: builder.offsets(
        written.operators.map((text) => {
          const [name = '', overload = ''] = text.split('.')
          const [a, b] = [builder.text(name), builder.text(overload)]
          return builder.table(2, (table) => {
            table.addFieldOffset(operator.name, a, 0)
            table.addFieldOffset(operator.overload, b, 0)
          })
        }),
      ),
      delegates: builder.offsets([]),
      sizes: builder.vector([0, written.arenaBytes, ...(hasShared(written) ? [this.sharedBytes] : [])], 8, (b, size) =>
        b.addInt64(BigInt(size)),
      ),
    }
    return builder.table(10, (b) => {
      b.addFieldOffset(plan.name, parts.name, 0)
      b.addFieldOffset(plan.containers, parts.containers, 0)
      b.addFieldOffset(plan.values, parts.values, 0)
      b.addFieldOffset(plan.inputs, inputs, 0)
      b.addFieldOffset(plan.outputs, outputs, 0)
      b.addFieldOffset(plan.chains, parts.chains, 0)
      b.addFieldOffset(plan.operators, parts.operators, 0)
      b.addFieldOffset(plan.delegates, parts.delegates, 0)
      b.addFieldOffset(plan.bufferSizes, parts.sizes, 0)
    })
  }

  /** A member of a union with its kind, the only fields of a table. */
  private union(kind: number, member: Offset): Offset {
    return this.builder.table(2, (b) => {
      b.addFieldInt8(Field.value.kind, kind, 0)
      b.addFieldOffset(Field.value.value, member, 0)
    })
  }

  private value(value: WrittenValue, offset: number | undefined): Offset {
    const { builder } = this
    const { value: field } = Field.single
    const vector = (kind: number, items: Offset): Offset =>
      this.union(
        kind,
        builder.table(1, (b) => b.addFieldOffset(field, items, 0)),
      )
    switch (value.kind) {
      case 'none':
        return this.union(
          ValueKind.none,
          builder.table(0, () => undefined),
        )
      case 'int':
        return this.union(
          ValueKind.int,
          builder.table(1, (b) => b.addFieldInt64(field, BigInt(value.value), 0n)),
        )
      case 'bool':
        return this.union(
          ValueKind.bool,
          builder.table(1, (b) => b.addFieldInt8(field, Number(value.value), 0)),
        )
      case 'float':
        return this.union(
          ValueKind.double,
          builder.table(1, (b) => b.addFieldFloat64(field, value.value, 0)),
        )
      case 'str':
        return vector(ValueKind.string, builder.text(value.value))
      case 'ints':
        return vector(
          ValueKind.intList,
          builder.vector(value.items, 8, (b, item) => b.addInt64(BigInt(item))),
        )
      case 'floats':
        return vector(
          ValueKind.doubleList,
          builder.vector(value.values, 8, (b, item) => b.addFloat64(item)),
        )
      case 'bools':
        return vector(
          ValueKind.boolList,
          builder.vector(value.values, 1, (b, item) => b.addInt8(Number(item))),
        )
      case 'tensors':
        return vector(ValueKind.tensorList, builder.int32s(value.items))
      case 'optionalTensors':
        return vector(ValueKind.optionalTensorList, builder.int32s(value.items))
      case 'tensor':
        return this.union(ValueKind.tensor, this.tensor(value, offset))
    }
  }

  private tensor(
    { dtype, sizes, isDynamic, constant, kept }: Extract<WrittenValue, { kind: 'tensor' }>,
    offset: number | undefined,
  ): Offset {
    const { builder } = this
    const { tensor, allocation } = Field
    const dims = builder.int32s(sizes)
    const order = builder.vector(
      sizes.map((_, i) => i),
      1,
      (b, dim) => b.addInt8(dim),
    )
    const at = offset ?? kept?.offset ?? null
    const place =
      at === null
        ? 0
        : builder.table(3, (b) => {
            b.addFieldInt32(allocation.memory, offset === undefined ? SHARED : ARENA, 0)
            b.addFieldInt32(allocation.offsetLow, (at % 2 ** 32) | 0, 0)
            b.addFieldInt32(allocation.offsetHigh, Math.floor(at / 2 ** 32), 0)
          })
    const name = kept === undefined ? 0 : builder.text(kept.name)
    const extra = kept === undefined ? 0 : builder.table(3, (b) => b.addFieldOffset(Field.extra.name, name, 0))
    return builder.table(10, (b) => {
      b.addFieldInt8(tensor.scalarType, dtype, 0)
      b.addFieldOffset(tensor.sizes, dims, 0)
      b.addFieldOffset(tensor.dimOrder, order, 0)
      b.addFieldInt32(tensor.dataIndex, kept?.initial ?? constant, 0)
      b.addFieldOffset(tensor.allocation, place, 0)
      b.addFieldInt8(tensor.dynamism, isDynamic ? Dynamism.bound : Dynamism.fixed, 0)
      b.addFieldOffset(tensor.extra, extra, 0)
    })
  }
}
