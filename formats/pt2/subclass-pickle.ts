import { Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, type Value } from '../../runtime/tensor/value.js'
import { damaged, tupleOf, unexpected, unsupported } from '../../program/file-error.js'
import { PickleGlobal } from '../containers/pickle/global.js'
import { type PickleMeaning, unpickle } from '../containers/pickle/unpickler.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { ZipArchive } from '../containers/zip/archive.js'
import { storagesOf } from '../reading/archive.js'
import { moduleGlobals } from '../reading/pickle-globals.js'
import type { TensorPool } from '../reading/tensor-pool.js'

/**
 * Classes of tensors that torchao quantizes weights to. Nothing of them is run: an object of such a class is its attributes, and the program says by
 * `access_subclass_inner_tensor` which of these it computes with.
 */
const TENSOR_CLASSES: ReadonlySet<string> = new Set([
  ...['Int8Tensor', 'IntxUnpackedToInt8Tensor', 'IntxOpaqueTensor', 'Int4Tensor', 'Int4PlainInt32Tensor', 'Int4TilePackedTo4dTensor', 'Int4OpaqueTensor'],
  ...['Float8Tensor', 'Float8OpaqueTensor', 'UintxTensor', 'UIntxBitPackedTensor', 'CodebookQuantizedTensor', 'NF4Tensor'],
  // of releases before 0.14, with the class of what is in them
  ...['AffineQuantizedTensor', 'LinearActivationQuantizedTensor', 'WeightTensorWithLinearActivationQuantizationMetadata'],
  ...['PlainAQTTensorImpl', 'TensorCoreTiledAQTTensorImpl', 'Int4CPUAQTTensorImpl', 'UintxAQTTensorImpl', 'Float8AQTTensorImpl', 'QDQTensorImpl', 'QDQAQTTensorImpl'],
]) // prettier-ignore

/** A tensor of a subclass: its attributes by name. */
class SubclassTensor extends CustomObject {
  readonly attributes = new Map<Value, Value>()
}

/** What is beside the tensors in one: options, granularities, members of enumerations. Nobody looks at it. */
class Inert extends CustomObject {}

/** A tensor of a subclass, as a record of the archive holds it, a pickle in an archive of its own. Throws UNSUPPORTED_FILE for classes that are not known. */
export class SubclassReader {
  private readonly known = new Map<string, Value>()

  constructor(
    private readonly zip: ZipArchive,
    private readonly pool: TensorPool,
    private readonly budget: ValueBudget,
  ) {}

  /** The tensor that the attributes `path` lead to, one in the other. */
  tensorAt(record: string, path: readonly string[]): Tensor {
    let value = this.known.get(record)
    if (value === undefined) {
      value = this.read(record)
      this.known.set(record, value)
    }
    for (const name of path) {
      if (!(value instanceof SubclassTensor)) throw unexpected(`a tensor with the attribute '${name.slice(0, 60)}'`, value)
      const attribute = value.attributes.get(name)
      if (attribute === undefined) throw damaged(`${value.className} has no attribute '${name.slice(0, 60)}'`)
      value = attribute
    }
    if (value instanceof Tensor) return value
    if (value instanceof SubclassTensor)
      throw unsupported(
        `the program computes with a tensor of the class ${value.className} itself; export it with torch.export.export, or after unwrap_tensor_subclass(model)`,
      )
    throw unexpected('a tensor', value)
  }

  private read(record: string): Value {
    const inner = this.zip.archiveIn(record)
    const storageOf = storagesOf(inner)
    const globals = moduleGlobals(this.pool, (key, type, count) => storageOf(`data/${key}`, type, count), new Map(), this.budget)
    return unpickle(inner.contentOf('data.pkl'), meaningOf(globals), this.budget)
  }
}

function meaningOf(globals: PickleMeaning): PickleMeaning {
  const fresh = new Set<Value>()
  const own: Readonly<Record<string, ((args: readonly Value[]) => Value) | undefined>> = {
    // function, class, arguments, attributes
    'torch._tensor._rebuild_from_type_v2': ([make, , args, state]) => {
      if (!(make instanceof PickleGlobal)) throw unexpected('a function that makes a tensor', make)
      return withAttributes(make.invoke(tupleOf(args ?? null)), state ?? null)
    },
    // class, dtype, sizes, strides, offset, layout, device, requires_grad
    'torch._utils._rebuild_wrapper_subclass': ([type]) => {
      if (!(type instanceof PickleGlobal) || !TENSOR_CLASSES.has(lastOf(type.className)))
        throw unexpected('a class of quantized tensors', type ?? null)
      return new SubclassTensor(type.className, null)
    },
    'torch._utils._rebuild_parameter': ([value]) => {
      if (!(value instanceof Tensor || value instanceof SubclassTensor)) throw unexpected('a tensor as parameter', value ?? null)
      return value
    },
    'torch.serialization._get_layout': () => new Inert('a layout', null),
    'torch.Size': ([sizes]) => sizes ?? null,
  }
  return {
    persistentLoad: globals.persistentLoad,
    lookUp(name) {
      const call = own[name]
      if (call !== undefined) return new PickleGlobal(name, call)
      if (/^torch\.u?int[1-7]$/.test(name)) return new PickleGlobal(name)
      if (!name.startsWith('torchao.')) return globals.lookUp(name)
      const isTensor = lastOf(name).endsWith('Tensor') || lastOf(name).endsWith('TensorImpl')
      if (isTensor && !TENSOR_CLASSES.has(lastOf(name)))
        throw unsupported(
          `a tensor of the class ${name.slice(0, 100)}, which is none that this runtime knows; export the program after unwrap_tensor_subclass(model)`,
        )
      return new PickleGlobal(name, () => {
        const instance = new Inert(name, null)
        fresh.add(instance)
        return instance
      })
    },
    setState(instance) {
      if (!fresh.delete(instance)) throw unexpected('an object of torchao to give a state to', instance)
    },
  }
}

function lastOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** Attributes are a dict, or one beside those of slots. */
function withAttributes(value: Value, state: Value): Value {
  const dicts = state instanceof Map || state === null ? [state] : tupleOf(state)
  if (!(value instanceof SubclassTensor)) {
    if (value instanceof Tensor) return value
    throw unexpected('a tensor with attributes', value)
  }
  for (const dict of dicts) {
    if (dict === null) continue
    if (!(dict instanceof Map)) throw unexpected('a dict of attributes', dict)
    dict.forEach((attribute, name) => value.attributes.set(name, attribute))
  }
  return value
}
