import type { Offset } from 'flatbuffers'
import type { MissingOperator } from '../../program/missing.js'
import { areEqual, concatenated } from '../../runtime/bytes.js'
import { PtliteError } from '../../runtime/error.js'
import { cpu } from '../../runtime/native/cpu.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { KERNEL_EXTENTS } from '../../runtime/native/generated/extents.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CapturedFrame } from '../../compiler/capture/captured.js'
import { Encoder, type TensorEntry } from './encode.js'
import { hashOf } from '../../runtime/tensor/hash.js'
import { ACTIVATION_NAMES, type AheadMethod, type AheadModule, type AheadPlan, type AheadState, type UnplannedCall } from './module.js'
import { DATA_ALIGNMENT, PREAMBLE_BYTES, writePreamble } from './preamble.js'
import { CONSTANT_ROW, Field, TARGET_KINDS } from './schema.js'
import { SparseSection } from './write-sparse.js'
import { tensorsOf, whyNoMethod, whyNoPlan } from './writable.js'

/** The bytes of a .ptlc file. Throws INVALID_ARGUMENT where a plan or method holds what no file can. */
export function writeAhead(module: AheadModule): Uint8Array {
  for (const { name, arguments: list } of module.methods) checkWritable(name, whyNoMethod(list))
  for (const plan of module.plans) checkWritable(plan.method, whyNoPlan(plan))
  const data = new DataSection()
  const header = encodeModule(module, data)
  const dataStart = aligned(PREAMBLE_BYTES + header.length)
  const file = new Uint8Array(dataStart + data.size)
  file.set(header, PREAMBLE_BYTES)
  data.copyTo(file.subarray(dataStart))
  const preamble = {
    headerBytes: header.length,
    dataStart,
    dataBytes: data.size,
    headerHash: hashOf(header),
    dataHash: hashOf(file.subarray(dataStart)),
  }
  file.set(writePreamble(preamble, hashOf))
  return file
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / DATA_ALIGNMENT) * DATA_ALIGNMENT
}

function checkWritable(method: string, reason: string | null): void {
  if (reason !== null) throw new PtliteError('INVALID_ARGUMENT', `${method}() cannot be compiled ahead: ${reason}`)
}

/** Contents of constants, each once, however many plans use it or have a copy of it. */
class DataSection {
  private readonly numbers = new Map<Storage, number>()
  private readonly contents: Uint8Array[] = []
  private readonly byHash = new Map<string, number[]>()
  readonly rows: number[] = []
  size = 0

  add(storage: Storage): number {
    const known = this.numbers.get(storage)
    if (known !== undefined) return known
    const bytes = storage.byteLength
    const content = new Uint8Array(bytes)
    if (bytes > 0) kernels.mem_read({ address: storage.address, bytes }, content)
    const number = this.addContent(content)
    this.numbers.set(storage, number)
    return number
  }

  addContent(content: Uint8Array): number {
    const bytes = content.length
    const key = `${bytes} ${hashOf(content)}`
    const alike = this.byHash.get(key) ?? []
    const equal = alike.find((number) => areEqual(this.contents[number]!, content))
    if (equal !== undefined) return equal
    const number = this.contents.length
    this.contents.push(content)
    this.byHash.set(key, [...alike, number])
    this.rows.push(this.size, bytes)
    this.size = aligned(this.size + bytes)
    return number
  }

  copyTo(file: Uint8Array): void {
    this.contents.forEach((content, i) => {
      file.set(content, this.rows[CONSTANT_ROW * i]!)
    })
  }
}

function encodeModule(module: AheadModule, data: DataSection): Uint8Array {
  const { activations } = module.rounding ?? {}
  const multiplied = activations === undefined ? 0 : 1 + ACTIVATION_NAMES.indexOf(activations)
  const e = new Encoder()
  const names = [...new Set(module.plans.flatMap((p) => p.captured.frames.map((f) => f.layout.name)))].sort()
  const levelOf = cpu.kernels()
  const memories = [...new Set(module.states.map(({ tensor }) => tensor.storage))]
  const sparse = new SparseSection((content) => data.addContent(content))
  const contents = e.uint32s(memories.map((storage) => data.add(storage)))
  const states = e.offsets(module.states.map((state) => encodeState(e, state, memories)))
  const plans = e.offsets(module.plans.map((plan) => encodePlan(e, plan, names, data, sparse)))
  const used = e.offsets(names.map((name) => encodeKernel(e, name, levelOf[name] ?? module.level)))
  const methods = e.offsets(module.methods.map((method) => encodeMethod(e, method)))
  const constants = e.int64s(data.rows)
  const sparseWeights = sparse.encode(e)
  const operators = e.texts(module.operators)
  const levels = e.texts(module.levels)
  const unplanned = e.offsets(module.unplanned.map((call) => encodeUnplanned(e, call)))
  const [library, level, original, sha256, fingerprint] = [
    ...[module.library, module.level, module.original, module.sha256, module.fingerprint].map((text) => e.text(text)),
  ]
  const { set, isOn, layers } = module.training
  const training = e.texts(layers.flatMap(({ name, type }) => [name, type]))
  const missing = e.offsets(module.missing.map((lacking) => encodeMissing(e, lacking)))
  const weights = e.text(module.rounding?.weights ?? '')
  const kvCache = e.text(module.kvCache ?? '')
  const at = Field.module
  return e.finish(
    e.table(26, (b) => {
      b.addFieldOffset(at.library, library!, 0)
      b.addFieldOffset(at.level, level!, 0)
      b.addFieldOffset(at.original, original!, 0)
      b.addFieldOffset(at.sha256, sha256!, 0)
      b.addFieldInt32(at.bytecodeVersion, module.bytecodeVersion, 0)
      b.addFieldInt32(at.operatorVersion, module.operatorVersion, 0)
      b.addFieldOffset(at.operators, operators, 0)
      b.addFieldOffset(at.kernels, used, 0)
      b.addFieldOffset(at.methods, methods, 0)
      b.addFieldOffset(at.constants, constants, 0)
      b.addFieldOffset(at.plans, plans, 0)
      b.addFieldOffset(at.levels, levels, 0)
      b.addFieldInt64(at.originalBytes, BigInt(module.originalBytes), 0n)
      b.addFieldOffset(at.fingerprint, fingerprint!, 0)
      b.addFieldOffset(at.unplanned, unplanned, 0)
      b.addFieldOffset(at.sparse, sparseWeights, 0)
      b.addFieldInt8(at.trainingSet, set === null ? 0 : 1 + Number(set), 0)
      b.addFieldInt8(at.inTraining, Number(isOn), 0)
      b.addFieldOffset(at.trainingLayers, training, 0)
      b.addFieldOffset(at.missing, missing, 0)
      b.addFieldOffset(at.weights, weights, 0)
      b.addFieldInt32(at.weightGroup, module.rounding?.group ?? 0, 0)
      b.addFieldInt8(at.activations, multiplied, 0)
      b.addFieldOffset(at.kvCache, kvCache, 0)
      b.addFieldOffset(at.states, states, 0)
      b.addFieldOffset(at.memories, contents, 0)
    }),
  )
}

function encodeKernel(e: Encoder, name: string, servedBy: string): Offset {
  const text = e.text(name)
  const level = e.text(servedBy)
  return e.table(3, (b) => {
    b.addFieldOffset(Field.kernel.name, text, 0)
    b.addFieldInt32(Field.kernel.hash, KERNEL_EXTENTS[name]!.hash | 0, 0)
    b.addFieldOffset(Field.kernel.level, level, 0)
  })
}

function encodeState(e: Encoder, { name, slots, tensor }: AheadState, memories: readonly Storage[]): Offset {
  const text = e.text(name)
  const path = e.uint32s(slots)
  const index = memories.indexOf(tensor.storage)
  const described = e.tensor({ tensor, target: { kind: 'constant', index }, offset: tensor.offset, same: false, again: -1 })
  const at = Field.state
  return e.table(3, (b) => {
    b.addFieldOffset(at.name, text, 0)
    b.addFieldOffset(at.slots, path, 0)
    b.addFieldOffset(at.tensor, described, 0)
  })
}

function encodeMissing(e: Encoder, { operator, methods }: MissingOperator): Offset {
  const name = e.text(operator)
  const list = e.texts(methods)
  return e.table(2, (b) => {
    b.addFieldOffset(Field.missing.operator, name, 0)
    b.addFieldOffset(Field.missing.methods, list, 0)
  })
}

function encodeUnplanned(e: Encoder, call: UnplannedCall): Offset {
  const [method, signature, reason] = [call.method, call.signature, call.reason].map((text) => e.text(text))
  return e.table(3, (b) => {
    b.addFieldOffset(Field.unplanned.method, method!, 0)
    b.addFieldOffset(Field.unplanned.signature, signature!, 0)
    b.addFieldOffset(Field.unplanned.reason, reason!, 0)
  })
}

function encodeMethod(e: Encoder, method: AheadMethod): Offset {
  const noTensors = (): never => {
    throw new PtliteError('INTERNAL', `${method.name}() has a tensor as default of an argument`)
  }
  const list = method.arguments.map((argument) => {
    const name = e.text(argument.name)
    const type = e.text(argument.type)
    const value = argument.default === undefined ? 0 : e.value(argument.default, noTensors)
    return e.table(3, (b) => {
      b.addFieldOffset(Field.argument.name, name, 0)
      b.addFieldOffset(Field.argument.type, type, 0)
      b.addFieldOffset(Field.argument.defaultValue, value, 0)
    })
  })
  const args = e.offsets(list)
  const name = e.text(method.name)
  return e.table(2, (b) => {
    b.addFieldOffset(Field.method.name, name, 0)
    b.addFieldOffset(Field.method.arguments, args, 0)
  })
}

function encodePlan(e: Encoder, plan: AheadPlan, names: readonly string[], data: DataSection, sparse: SparseSection): Offset {
  const { captured, placement } = plan
  const numbers = captured.constants.map(({ storage }) => data.add(storage))
  const method = e.text(plan.method)
  const args = e.offsets(plan.example.map((value, i) => e.value(value, argumentEntries(plan.example, i))))
  const kernelsOf = e.uint32s(captured.frames.map((f) => names.indexOf(f.layout.name)))
  const frames = e.bytes(framesOf(captured.frames))
  const pointers = e.int64s(
    captured.frames.flatMap((frame, i) =>
      frame.pointers.flatMap(({ at, target: { kind, index }, offset }) => [
        ...[i, at, TARGET_KINDS.indexOf(kind), kind === 'constant' ? numbers[index]! : index, offset],
      ]),
    ),
  )
  const withHost = captured.frames.map(({ host }, i) => ({ host, i })).filter(({ host }) => host !== null)
  const hostFrames = e.uint32s(withHost.map(({ i }) => i))
  const hostSizes = e.uint32s(withHost.map(({ host }) => host!.length))
  const hostData = e.bytes(concatenated(withHost.map(({ host }) => host!)))
  // a buffer that nothing touches needs no memory
  const buffers = e.int64s(
    captured.buffers.flatMap(({ bytes }, i) => {
      const place = placement.places[i] ?? null
      return place === null ? [0, 0] : [bytes, place]
    }),
  )
  const written = e.uint32s(captured.written)
  const weights = e.uint32s(sparse.rowsOf(captured.frames))
  const states = e.uint32s(plan.state)
  const kept = e.uint32s(plan.kept)
  const { value, tensors } = captured.result
  const result = e.value(value, (mark) => {
    const template = tensors.get(mark)!
    const { kind, index } = template.target
    const target = { kind, index: kind === 'constant' ? numbers[index]! : index }
    return { tensor: template, target, offset: template.offset, same: kind === 'input' && template.same !== null, again: -1 }
  })
  const at = Field.plan
  return e.table(19, (b) => {
    b.addFieldOffset(at.method, method, 0)
    b.addFieldOffset(at.arguments, args, 0)
    b.addFieldOffset(at.kernels, kernelsOf, 0)
    b.addFieldOffset(at.frames, frames, 0)
    b.addFieldOffset(at.pointers, pointers, 0)
    b.addFieldOffset(at.hostFrames, hostFrames, 0)
    b.addFieldOffset(at.hostSizes, hostSizes, 0)
    b.addFieldOffset(at.hostData, hostData, 0)
    b.addFieldOffset(at.buffers, buffers, 0)
    b.addFieldOffset(at.written, written, 0)
    b.addFieldOffset(at.result, result, 0)
    b.addFieldInt64(at.lowerBound, BigInt(placement.lowerBound), 0n)
    b.addFieldInt64(at.naive, BigInt(placement.naiveBytes), 0n)
    b.addFieldInt32(at.recorded, plan.operators.recorded, 0)
    b.addFieldInt32(at.optimized, plan.operators.optimized, 0)
    b.addFieldOffset(at.sparse, weights, 0)
    b.addFieldOffset(at.states, states, 0)
    b.addFieldOffset(at.kept, kept, 0)
    b.addFieldInt8(at.lastRow, Number(plan.lastRow), 0)
  })
}

/** Numbers the tensors of arguments in the order in which signatures see them. */
function argumentEntries(example: readonly Value[], argument: number): (t: Tensor) => TensorEntry {
  const before = tensorsOf(example.slice(0, argument))
  return (tensor) => {
    const again = before.indexOf(tensor)
    before.push(tensor)
    return { tensor, target: { kind: 'input', index: before.length - 1 }, offset: tensor.offset, same: false, again }
  }
}

/** Frames behind each other: their fields without addresses and handles, and without what lay in the gaps between them. */
function framesOf(frames: readonly CapturedFrame[]): Uint8Array {
  return concatenated(
    frames.map(({ layout, bytes }) => {
      const clean = new Uint8Array(layout.size)
      for (const { name, kind, count, offset } of layout.fields.values()) {
        const size = count * (kind === 'i32' || kind === 'f32' ? 4 : 8)
        if (kind !== 'ptr' && name !== 'handle') clean.set(bytes.subarray(offset, offset + size), offset)
      }
      return clean
    }),
  )
}
