import { unsupported } from '../../program/file-error.js'
import type { FlatReader, FlatTable } from '../containers/flatbuffer/reader.js'
import { KERNEL_EXTENTS } from '../../runtime/native/generated/extents.js'
import { itemSize } from '../../runtime/tensor/dtype.js'
import { extentOf } from '../../runtime/tensor/shape.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CapturedFrame, CapturedRun, Pointer, StoredBlocks, Target } from '../../compiler/capture/captured.js'
import { type FrameLayout, layoutOfName } from '../../compiler/capture/frame-layout.js'
import type { ResultTemplate, TensorTemplate } from '../../compiler/capture/result.js'
import type { BufferAssignment } from '../../compiler/executor/buffer-assignment.js'
import { checkFrame } from '../../compiler/frames/check-frame.js'
import { ALIGNMENT, alignedSize } from '../../compiler/memory/plan-memory.js'
import { type DecodedTensor, numberAt, numbersOf, ValueDecoder } from './decode.js'
import type { AheadKernel, AheadPlan } from './module.js'
import { BUFFER_ROW, Field, POINTER_ROW, SPARSE_ROW, TARGET_KINDS } from './schema.js'

/** Reads one plan and checks all of it. Throws INVALID_FILE, or UNSUPPORTED_FILE for a kernel that this library has not got. */
export function readPlan(
  table: FlatTable,
  kernels: readonly AheadKernel[],
  constants: readonly Storage[],
  sparse: readonly StoredBlocks[],
  states: readonly Tensor[],
): AheadPlan {
  return new PlanReader(table, kernels, constants, sparse, states).read()
}

/** Inputs that a run has room for. */
const MAX_INPUTS = layoutOfName('plan_run')!.fields.get('slots')!.count

/** What a plan says of itself. */
export interface PlanSummary {
  readonly method: string
  /** Arguments of its form; their tensors have no memory. */
  readonly example: readonly Value[]
  /** The kernel of each frame. */
  readonly kernels: readonly string[]
  readonly placement: BufferAssignment
  readonly operators: AheadPlan['operators']
}

/** Reads what a plan says of itself, whether or not this library could run it. Throws INVALID_FILE. */
export function readSummary(table: FlatTable, kernels: readonly AheadKernel[]): PlanSummary {
  return new PlanReader(table, kernels, [], [], []).summary()
}

class PlanReader {
  private readonly reader: FlatReader
  private readonly inputs: DecodedTensor[] = []
  private readonly buffers: readonly { readonly bytes: number; readonly place: number }[]

  constructor(
    private readonly table: FlatTable,
    private readonly kernels: readonly AheadKernel[],
    private readonly constants: readonly Storage[],
    private readonly sparse: readonly StoredBlocks[],
    private readonly states: readonly Tensor[],
  ) {
    this.reader = table.reader
    this.buffers = this.readBuffers()
  }

  read(): AheadPlan {
    const at = Field.plan
    const { table, reader, buffers, constants } = this
    const example = table.tables(at.arguments).map((value) => this.readArgument(value))
    const state = this.readState()
    const result = this.readResult()
    const written = table.uint32s(at.written)
    const kept = table.uint32s(at.kept)
    if ([...written, ...kept].some((input) => input >= this.inputs.length))
      throw reader.error('a plan writes to an argument that it has not got')
    const captured: CapturedRun = {
      frames: this.readFrames(),
      buffers: buffers.map(({ bytes, place }) => ({ bytes, isOutput: place < 0 })),
      constants: constants.map((storage) => ({ storage, version: storage.version })),
      aliases: this.inputs.map(({ again }, i) => (again < 0 ? i : again)),
      written,
      result,
    }
    for (const frame of captured.frames) {
      const fault = checkFrame(frame, (target) => this.sizeOf(target))
      if (fault !== null) throw reader.error(`a plan cannot be run: ${fault}`)
    }
    const about = { method: table.text(at.method), lastRow: table.uint8(at.lastRow) !== 0, operators: this.operators() }
    return { ...about, example, captured, placement: this.placement(), state, kept }
  }

  summary(): PlanSummary {
    const at = Field.plan
    const { table } = this
    return {
      method: table.text(at.method),
      example: table.tables(at.arguments).map((value) => this.readArgument(value)),
      kernels: table.uint32s(at.kernels).map((number) => this.kernelOf(number).name),
      placement: this.placement(),
      operators: this.operators(),
    }
  }

  private operators(): AheadPlan['operators'] {
    const at = Field.plan
    return { recorded: this.table.uint32(at.recorded), optimized: this.table.uint32(at.optimized) }
  }

  private readArgument(value: FlatTable) {
    return new ValueDecoder((tensor) => {
      const { again, mark } = tensor
      const first = again < 0 ? tensor : this.inputs[again]
      if (first === undefined || (again >= 0 && first.again >= 0)) throw this.reader.error('an argument repeats a missing one')
      this.inputs.push(again < 0 ? tensor : { ...first, again })
      return again < 0 ? mark : first.mark
    }).value(value)
  }

  /** States are inputs behind the arguments. */
  private readState(): number[] {
    const numbers = this.table.uint32s(Field.plan.states)
    const first = this.inputs.length
    if (first + numbers.length > MAX_INPUTS) throw this.reader.error('a plan has too many inputs')
    for (const number of numbers) {
      const mark = this.states[number]
      if (mark === undefined) throw this.reader.error(`there is no state ${number}`)
      const again = this.inputs.findIndex((other, i) => i >= first && other.mark.storage === mark.storage)
      this.inputs.push({ mark, target: { kind: 'input', index: this.inputs.length }, offset: 0, same: false, again })
    }
    return numbers
  }

  private readBuffers() {
    const rows = numbersOf(this.table, Field.plan.buffers)
    return Array.from({ length: Math.floor(rows.length / BUFFER_ROW) }, (_, i) => {
      const [bytes, place] = [rows[BUFFER_ROW * i]!, rows[BUFFER_ROW * i + 1]!]
      if (bytes < 0 || (place >= 0 && place % ALIGNMENT !== 0)) throw this.reader.error(`buffer ${i} has a wrong size or place`)
      return { bytes, place }
    })
  }

  /** Sizes of arena and outputs follow from the buffers. */
  private placement(): BufferAssignment {
    const outputs: number[] = []
    let arenaBytes = 0
    for (const { bytes, place } of this.buffers) {
      if (place >= 0) arenaBytes = Math.max(arenaBytes, bytes === 0 ? 0 : place + alignedSize(bytes))
      else if (-1 - place < this.buffers.length) outputs[-1 - place] = Math.max(outputs[-1 - place] ?? 0, bytes)
      else throw this.reader.error('a buffer is of a missing output')
    }
    // holes are undefined, which `some` skips
    for (let i = 0; i < outputs.length; i++) if (outputs[i] === undefined) throw this.reader.error(`output ${i} has no buffer`)
    if (!Number.isSafeInteger(arenaBytes)) throw this.reader.error('its arena is too large')
    const at = Field.plan
    return {
      places: this.buffers.map(({ place }) => place),
      outputs,
      arenaBytes,
      lowerBound: numberAt(this.table, at.lowerBound),
      naiveBytes: numberAt(this.table, at.naive),
    }
  }

  private readFrames(): CapturedFrame[] {
    const { reader, table } = this
    const at = Field.plan
    const bytes = this.blob(at.frames)
    const pointers = this.readPointers()
    const hosts = this.readHosts()
    const weights = this.readWeights()
    let start = 0
    const frames = table.uint32s(at.kernels).map((number, i): CapturedFrame => {
      const layout = this.layoutOf(number)
      const own = bytes.slice(start, start + layout.size)
      if (own.length < layout.size) throw reader.error('frames are missing')
      start += layout.size
      const list = pointers.get(i) ?? []
      const places = new Set(list.map((p) => p.at))
      if (places.size !== list.length || list.some((p) => !layout.pointers.includes(p.at)))
        throw reader.error(`frame ${i} has wrong addresses`)
      // what stands there is an address of nothing
      for (const place of layout.pointers) own.fill(0, place, place + 8)
      const host = hosts.get(i) ?? null
      if ((host !== null) !== (layout.host !== null)) throw reader.error(`frame ${i} has data, or lacks them`)
      const stored = weights.get(i)
      if ((stored !== undefined) !== layout.fields.has('handle')) throw reader.error(`frame ${i} has a sparse weight, or lacks it`)
      return { layout, bytes: own, host, pointers: list, ...(stored === undefined ? {} : { stored }) }
    })
    if ([...pointers.keys(), ...hosts.keys(), ...weights.keys()].some((frame) => frame >= frames.length))
      throw reader.error('there are addresses of no frame')
    return frames
  }

  private kernelOf(number: number): AheadKernel {
    const kernel = this.kernels[number]
    if (kernel === undefined) throw this.reader.error(`there is no kernel ${number}`)
    return kernel
  }

  private layoutOf(number: number): FrameLayout {
    const kernel = this.kernelOf(number)
    const layout = layoutOfName(kernel.name)
    if (layout === undefined || KERNEL_EXTENTS[kernel.name]?.hash !== kernel.hash) {
      throw unsupported(`the plan needs the kernel ${kernel.name} as it was in the library that compiled it; compile the model again`)
    }
    return layout
  }

  private readPointers(): Map<number, Pointer[]> {
    const rows = numbersOf(this.table, Field.plan.pointers)
    const byFrame = new Map<number, Pointer[]>()
    for (let row = 0; row + POINTER_ROW <= rows.length; row += POINTER_ROW) {
      const [frame, at, kindNumber, index, offset] = rows.slice(row, row + POINTER_ROW) as [number, number, number, number, number]
      const kind = TARGET_KINDS[kindNumber]
      if (kind === undefined || frame < 0 || offset < 0) throw this.reader.error('an address is wrong')
      const target = { kind, index }
      this.sizeOf(target)
      const list = byFrame.get(frame) ?? []
      list.push({ at, target, offset })
      byFrame.set(frame, list)
    }
    return byFrame
  }

  private readHosts(): Map<number, Uint8Array> {
    const at = Field.plan
    const frames = this.table.uint32s(at.hostFrames)
    const sizes = this.table.uint32s(at.hostSizes)
    const data = this.blob(at.hostData)
    const hosts = new Map<number, Uint8Array>()
    let start = 0
    frames.forEach((frame, i) => {
      const bytes = sizes[i] ?? 0
      if (start + bytes > data.length || hosts.has(frame)) throw this.reader.error('data of frames are missing')
      hosts.set(frame, data.slice(start, start + bytes))
      start += bytes
    })
    return hosts
  }

  /** Sparse weights by frame. */
  private readWeights(): Map<number, StoredBlocks> {
    const rows = this.table.uint32s(Field.plan.sparse)
    const weights = new Map<number, StoredBlocks>()
    for (let row = 0; row + SPARSE_ROW <= rows.length; row += SPARSE_ROW) {
      const stored = this.sparse[rows[row + 1]!]
      if (stored === undefined) throw this.reader.error(`there is no sparse weight ${rows[row + 1]!}`)
      weights.set(rows[row]!, stored)
    }
    return weights
  }

  private blob(field: number): Uint8Array {
    const { start, length } = this.table.vector(field, 1)
    return this.reader.copy(start, length)
  }

  private readResult(): ResultTemplate {
    const tensors = new Map<Tensor, TensorTemplate>()
    const table = this.table.table(Field.plan.result)
    if (table === null) throw this.reader.error('a plan has no result')
    const values = new ValueDecoder(({ mark, target, offset, same }) => {
      const { shape, strides, type, quant } = mark
      if ((offset + extentOf(shape, strides)) * itemSize(type) > this.sizeOf(target))
        throw this.reader.error('a result is outside of its memory')
      if (same && target.kind !== 'input') throw this.reader.error('a result is no argument')
      if (target.kind === 'input' && itemSize(this.inputs[target.index]!.mark.type) !== itemSize(type)) {
        throw this.reader.error('a result is an argument under another dtype')
      }
      if (target.kind === 'buffer' && this.buffers[target.index]!.place >= 0) throw this.reader.error('a result lies in the arena')
      tensors.set(mark, { target, offset, shape, strides, type, quant, same: same ? this.inputs[target.index]!.mark : null })
      return mark
    })
    return { value: values.value(table), tensors }
  }

  /** Bytes of a piece of memory; an input's from its first element on. */
  private sizeOf({ kind, index }: Target): number {
    if (kind === 'constant' && this.constants[index] !== undefined) return this.constants[index]!.byteLength
    if (kind === 'buffer' && this.buffers[index] !== undefined) return this.buffers[index]!.bytes
    const input = kind === 'input' ? this.inputs[index] : undefined
    if (input === undefined) throw this.reader.error(`there is no ${kind} ${index}`)
    const { shape, strides, type } = input.mark
    return extentOf(shape, strides) * itemSize(type)
  }
}
