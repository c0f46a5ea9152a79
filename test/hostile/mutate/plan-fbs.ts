import { POINTER_ROW, Field } from '../../../formats/ptlc/schema.js'
import { layoutOfName } from '../../../compiler/capture/frame-layout.js'
import type { Random } from '../random.js'
import type { FlatChange, FlatFormat } from './flat.js'
import { bytesOf, type FlatTableNode, TEXT, tableOf, vectorOf } from './flat-tree.js'

const [u8, u32, i64] = [bytesOf(1), bytesOf(4), bytesOf(8)]

/** The tables of plan.fbs. */
export const PLAN_FORMAT: FlatFormat = {
  root: 'Module',
  identifier: '\0\0\0\0',
  schema: {
    Kernel: [TEXT, u32, TEXT],
    Quantization: [u32, vectorOf(i64), vectorOf(i64), u8],
    Tensor: [u8, u32, i64, vectorOf(i64), vectorOf(i64), u8, tableOf('Quantization'), u8, u32],
    Value: [u8, i64, i64, TEXT, vectorOf(tableOf('Value')), vectorOf(tableOf('Value')), vectorOf(TEXT), tableOf('Tensor')],
    Argument: [TEXT, TEXT, tableOf('Value')],
    Method: [TEXT, vectorOf(tableOf('Argument'))],
    Plan: [
      TEXT, vectorOf(tableOf('Value')), vectorOf(u32), vectorOf(u8), vectorOf(i64), vectorOf(u32), vectorOf(u32), vectorOf(u8), vectorOf(i64), vectorOf(u32),
      tableOf('Value'), i64, i64, u32, u32, vectorOf(u32), vectorOf(u32), vectorOf(u32), u8,
    ], // prettier-ignore
    Sparse: [u32, i64, u32, i64, i64, u8, i64, u8, u8, vectorOf(u32), vectorOf(u32), vectorOf(i64)],
    State: [TEXT, vectorOf(u32), tableOf('Tensor')],
    Missing: [TEXT, vectorOf(TEXT)],
    Unplanned: [TEXT, TEXT, TEXT],
    Module: [
      TEXT, TEXT, TEXT, TEXT, u32, u32, vectorOf(TEXT), vectorOf(tableOf('Kernel')), vectorOf(tableOf('Method')), vectorOf(i64), vectorOf(tableOf('Plan')),
      vectorOf(TEXT), i64, TEXT, vectorOf(tableOf('Unplanned')), vectorOf(tableOf('Sparse')), u8, u8, vectorOf(TEXT), vectorOf(tableOf('Missing')), TEXT, u32, u8, TEXT,
      vectorOf(tableOf('State')), vectorOf(u32),
    ], // prettier-ignore
  },
}

/** The numbers of a vector field, to be written to; null where it has none. */
function numbersOf(node: FlatTableNode, field: number): Buffer | null {
  const vector = node.fields[field]
  return vector !== null && vector !== undefined && 'items' in vector && vector.bytes !== null && vector.bytes.length > 0
    ? vector.bytes
    : null
}

/** The tables of a vector field. */
function tablesOf(node: FlatTableNode, field: number): FlatTableNode[] {
  const vector = node.fields[field]
  return vector !== null && vector !== undefined && 'items' in vector && vector.items !== null
    ? vector.items.filter((item) => 'fields' in item)
    : []
}

function pickPlan(root: FlatTableNode, random: Random): FlatTableNode | null {
  const plans = tablesOf(root, Field.module.plans)
  return plans.length === 0 ? null : random.pick(plans)
}

/** One number of a row of int64 numbers: `row` of them each, those at `places` are changed. */
function changeRow(bytes: Buffer, row: number, places: readonly number[], random: Random): void {
  const rows = Math.floor(bytes.length / (8 * row))
  if (rows === 0) return
  const at = 8 * (row * random.below(rows) + random.pick(places))
  const old = bytes.readBigInt64LE(at)
  const steps = [
    old + 64n,
    old - 64n,
    old * 2n,
    old / 2n,
    old + 8n,
    old + 1n,
    0n,
    bytes.readBigInt64LE(8 * (row * random.below(rows)) + (at % (8 * row))),
  ]
  bytes.writeBigInt64LE(BigInt.asIntN(64, random.once(4) ? random.edge64(old) : random.pick(steps)), at)
}

/** One field of one frame. */
const changeFrame: FlatChange = (root, random) => {
  const plan = pickPlan(root, random)
  if (plan === null) return false
  const numbers = numbersOf(plan, Field.plan.kernels)
  const frames = numbersOf(plan, Field.plan.frames)
  if (numbers === null || frames === null) return false
  const names = tablesOf(root, Field.module.kernels).map((kernel) => {
    const name = kernel.fields[Field.kernel.name]
    return name !== null && name !== undefined && 'bytes' in name && name.bytes !== null ? name.bytes.toString() : ''
  })
  const chosen = random.below(numbers.length / 4)
  let start = 0
  for (let i = 0; i < chosen; i++) start += layoutOfName(names[numbers.readUInt32LE(4 * i)] ?? '')?.size ?? 0
  const layout = layoutOfName(names[numbers.readUInt32LE(4 * chosen)] ?? '')
  const fields = layout === undefined ? [] : [...layout.fields.values()].filter(({ kind }) => kind !== 'ptr')
  if (fields.length === 0) return false
  const { kind, offset, count } = random.pick(fields)
  const width = kind === 'i32' || kind === 'f32' ? 4 : 8
  const at = start + offset + width * random.below(count)
  if (at + width > frames.length) return false
  if (kind === 'i32') frames.writeInt32LE(stepped(frames.readInt32LE(at), random) | 0, at)
  else if (kind === 'i64')
    frames.writeBigInt64LE(
      BigInt.asIntN(64, random.once(4) ? random.edge64() : BigInt(stepped(Number(frames.readBigInt64LE(at)), random))),
      at,
    )
  else if (kind === 'f32') frames.writeFloatLE(random.double(), at)
  else frames.writeDoubleLE(random.double(), at)
  return true
}

/** A number near another one, or twice or half of it: what checks are most likely to let through. */
function stepped(old: number, random: Random): number {
  return random.once(4)
    ? random.edge(old)
    : random.pick([old + 1, old - 1, Math.trunc(old / 2), 2 * old, 0, 1, -old, old + 8, old - 8, random.below(16)])
}

/** Changes to what plans, and the constants that they use, are made of. */
export const PLAN_CHANGES: readonly FlatChange[] = [
  changeFrame,
  changeFrame,
  (root, random) => {
    const plan = pickPlan(root, random)
    const pointers = plan === null ? null : numbersOf(plan, Field.plan.pointers)
    if (pointers === null) return false
    changeRow(pointers, POINTER_ROW, [0, 1, 2, 3, 3, 4, 4, 4], random)
    return true
  },
  (root, random) => {
    const plan = pickPlan(root, random)
    const buffers = plan === null ? null : numbersOf(plan, Field.plan.buffers)
    if (buffers === null) return false
    changeRow(buffers, 2, [0, 1], random)
    return true
  },
  (root, random) => {
    const constants = numbersOf(root, Field.module.constants)
    if (constants === null) return false
    changeRow(constants, 2, [0, 1], random)
    return true
  },
  (root, random) => {
    const plan = pickPlan(root, random)
    if (plan === null) return false
    const numbers = numbersOf(
      plan,
      random.pick([
        Field.plan.kernels,
        Field.plan.hostFrames,
        Field.plan.hostSizes,
        Field.plan.written,
        Field.plan.sparse,
        Field.plan.states,
        Field.plan.kept,
      ]),
    )
    if (numbers === null) return false
    numbers.writeUInt32LE(stepped(numbers.readUInt32LE(0), random) >>> 0, 4 * random.below(numbers.length / 4))
    return true
  },
  (root, random) => {
    const plan = pickPlan(root, random)
    const data = plan === null ? null : numbersOf(plan, Field.plan.hostData)
    if (data === null || data.length < 8) return false
    data.writeInt32LE(random.edge() | 0, 4 * random.below(Math.floor(data.length / 4)))
    return true
  },
]
