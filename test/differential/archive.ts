import { p } from '../module/pickle-writer.js'
import { writeZip } from '../../formats/containers/zip/writer.js'
import { type DType, type Program, sourceOf, type Spec, type StorageSpec, type TensorSpec } from './program.js'

const STORAGE_CLASSES: Readonly<Record<DType, string>> = {
  float32: 'FloatStorage',
  float64: 'DoubleStorage',
  int64: 'LongStorage',
  int32: 'IntStorage',
  int16: 'ShortStorage',
  int8: 'CharStorage',
  uint8: 'ByteStorage',
  bool: 'BoolStorage',
}

/** The operator version of what PyTorch 1.13 and later write. */
const VERSION = '10'
const TOP = 'm'

/** The `.pt` file of a program, as `torch.jit.save` would write it. */
export function writeProgram(program: Program): Uint8Array {
  const text = (value: string): Uint8Array => Buffer.from(value)
  const state = new StatePickle(program)
  const data = state.finish()
  const records = [
    { name: 'version', content: text(`${VERSION}\n`) },
    { name: 'data.pkl', content: data },
    { name: 'constants.pkl', content: Buffer.from([...p.proto, ...p.emptyTuple, ...p.stop]) },
    { name: 'code/__torch__.py', content: text(sourceOf(program)) },
    ...state.records.map((storage, i) => ({ name: `data/${i}`, content: storageBytes(storage) })),
  ]
  return writeZip(records.map(({ name, content }) => ({ name: `${TOP}/${name}`, content })))
}

export function typedData({
  dtype,
  data,
}: StorageSpec): Float32Array | Float64Array | BigInt64Array | Int32Array | Int16Array | Int8Array | Uint8Array {
  switch (dtype) {
    case 'float32':
      return Float32Array.from(data)
    case 'float64':
      return Float64Array.from(data)
    case 'int64':
      return BigInt64Array.from(data, BigInt)
    case 'int32':
      return Int32Array.from(data)
    case 'int16':
      return Int16Array.from(data)
    case 'int8':
      return Int8Array.from(data)
    default:
      return Uint8Array.from(data)
  }
}

function storageBytes(storage: StorageSpec): Uint8Array {
  return new Uint8Array(typedData(storage).buffer)
}

/** Writes the module and what it holds. What has an id is kept for those that are the same; each tensor has a record of its own, as in files of PyTorch. */
class StatePickle {
  readonly records: StorageSpec[] = []
  private readonly bytes: number[] = [...p.proto]
  private readonly written = new Set<number>()
  private readonly specs = new Map<number, Spec>()

  constructor(private readonly program: Program) {
    const find = (spec: Spec): void => {
      if (spec === null || typeof spec === 'boolean') return
      if ('id' in spec && spec.id !== undefined) this.specs.set(spec.id, spec)
      if ('list' in spec) spec.list.forEach(find)
      else if ('tuple' in spec) spec.tuple.forEach(find)
      else if ('dict' in spec) for (const [, value] of spec.dict) find(value)
    }
    for (const { attributes } of program.classes) for (const { value } of attributes) find(value)
  }

  finish(): Buffer {
    this.value({ object: this.program.classes.at(-1)!.name })
    this.add(p.stop)
    return Buffer.from(this.bytes)
  }

  private add(...parts: readonly (readonly number[])[]): void {
    for (const part of parts) this.bytes.push(...part)
  }

  private value(spec: Spec): void {
    if (spec === null) this.add(p.none)
    else if (typeof spec === 'boolean') this.add(spec ? p.true : [0x89])
    else if ('int' in spec) this.add(p.int(spec.int))
    else if ('float' in spec) this.add(p.float(spec.float))
    else if ('same' in spec) {
      // classes are not written in the order in which they were made
      if (this.written.has(spec.same)) this.add(p.longGet(spec.same))
      else this.value(this.specs.get(spec.same) ?? null)
    } else if ('storage' in spec) this.tensor(spec)
    else if ('list' in spec) {
      this.add(p.global('torch.jit._pickle', 'restore_type_tag'), p.emptyList, p.mark)
      spec.list.forEach((item) => this.value(item))
      this.add(p.appends, p.text(spec.type), p.tuple2, p.reduce)
    } else if ('dict' in spec) {
      this.add(p.global('torch.jit._pickle', 'restore_type_tag'), p.emptyDict, p.mark)
      for (const [key, value] of spec.dict) {
        this.add(p.text(key))
        this.value(value)
      }
      this.add(p.setItems, p.text(spec.type), p.tuple2, p.reduce)
    } else if ('tuple' in spec) {
      this.add(p.mark)
      spec.tuple.forEach((item) => this.value(item))
      this.add(p.tuple)
    } else if ('object' in spec) {
      const { attributes } = this.program.classes.find(({ name }) => name === spec.object)!
      this.add(p.global('__torch__', spec.object), p.emptyTuple, p.newObject, p.emptyDict, p.mark)
      for (const { name, value } of attributes) {
        this.add(p.text(name))
        this.value(value)
      }
      this.add(p.setItems, p.build)
    } else throw new Error('an argument is no part of a file')
    if (spec !== null && typeof spec === 'object' && 'id' in spec && spec.id !== undefined) {
      this.written.add(spec.id)
      this.add(p.longPut(spec.id))
    }
  }

  private tensor({ storage, shape, strides, offset }: TensorSpec): void {
    const record = this.program.storages[storage]!
    const { dtype, data } = record
    // tensors over one storage share its record, and so their memory
    const known = this.records.indexOf(record)
    const key = `${known >= 0 ? known : this.records.push(record) - 1}`
    this.add(p.global('torch._utils', '_rebuild_tensor_v2'), p.mark, p.mark, p.text('storage'))
    this.add(p.global('torch', STORAGE_CLASSES[dtype]), p.text(key), p.text('cpu'), p.int(data.length), p.tuple, p.persistent)
    this.add(p.int(offset), p.mark, ...shape.map(p.int), p.tuple, p.mark, ...strides.map(p.int), p.tuple, [0x89])
    this.add(p.global('collections', 'OrderedDict'), p.emptyTuple, p.reduce, p.tuple, p.reduce)
  }
}
