import type { FunctionCode } from '../interpreter/code.js'
import { DType } from '../tensor/dtype.js'
import { Float } from '../tensor/scalar.js'
import type { Storage } from '../tensor/storage.js'
import { type Quant, Tensor } from '../tensor/tensor.js'
import { CustomObject, ScriptObject, setListType, type Value } from '../tensor/value.js'
import { damaged, describe, deviceOf, elementTypeOf, integerOf, sizesOf, textOf } from './file-error.js'
import type { PendingObject } from './parsed.js'
import { PickleGlobal, SCHEMES } from './pickle-global.js'
import { quantOf } from './quantization.js'
import { type TensorPool, unsupportedValue } from './tensor-pool.js'
import type { PickleMeaning } from './unpickler.js'

const CUSTOM_CLASS = '__torch__.torch.classes.'

/** c10::ScalarType numbers of the storage classes. */
const STORAGE_TYPES = new Map<string, number>([
  ['ByteStorage', DType.uint8], ['CharStorage', DType.int8], ['ShortStorage', DType.int16], ['IntStorage', DType.int32],
  ['LongStorage', DType.int64], ['HalfStorage', DType.float16], ['FloatStorage', DType.float32], ['DoubleStorage', DType.float64],
  ['ComplexHalfStorage', 8], ['ComplexFloatStorage', 9], ['ComplexDoubleStorage', 10], ['BoolStorage', DType.bool], ['QInt8Storage', DType.qint8],
  ['QUInt8Storage', DType.quint8], ['QInt32Storage', DType.qint32], ['BFloat16Storage', DType.bfloat16], ['QUInt4x2Storage', DType.quint4x2],
  ['QUInt2x4Storage', 17],
]) // prettier-ignore

const LIST_BUILDERS = new Map([
  ['build_intlist', 'int'],
  ['build_doublelist', 'float'],
  ['build_boollist', 'bool'],
  ['build_tensorlist', 'Tensor'],
])

/** A storage that a pickle refers to, before a tensor says how to view it. */
class StorageReference extends CustomObject {
  constructor(
    readonly scalarType: number,
    readonly key: string,
    readonly count: number,
  ) {
    super('a storage', null)
  }
}

/** An instance of a C++ class that has no state yet. */
class PendingCustom extends CustomObject {}

/** What the globals that PyTorch writes into the pickles of a module stand for. */
export class ModuleGlobals implements PickleMeaning {
  /** In the order in which their states were complete: inner objects first. */
  readonly pending: PendingObject[] = []
  private readonly enums = new Map<string, ScriptObject>()
  private readonly checked = new WeakSet<Value[]>()
  private readonly built = new WeakSet<ScriptObject>()

  constructor(
    readonly label: string,
    private readonly pool: TensorPool,
    /** The storage of a key, at least this long. */
    private readonly storage: (key: string, scalarType: number, count: number) => Storage,
    /** The `__setstate__` by which the class fills its objects, if it has one. */
    private readonly setStateOf: (className: string) => FunctionCode | undefined,
  ) {}

  allows(module: string, name: string): boolean {
    if (isModuleClass(module)) return true
    if (module === 'torch' && (STORAGE_TYPES.has(name) || SCHEMES.has(name))) return true
    return CALLS.has(`${module}.${name}`)
  }

  persistentLoad(id: readonly Value[]): Value {
    const [kind, type, key, , count] = this.exactly(id, 5, 'a storage')
    const scalarType = type instanceof PickleGlobal && type.module === 'torch' ? STORAGE_TYPES.get(type.name) : undefined
    if (kind !== 'storage' || scalarType === undefined) throw damaged(`${this.label}: expected a storage, found ${describe(type)}`)
    return new StorageReference(
      scalarType,
      textOf(key, `${this.label}: key of a storage`),
      integerOf(count, `${this.label}: size of a storage`, 0),
    )
  }

  call(global: PickleGlobal, args: readonly Value[]): Value {
    if (isModuleClass(global.module)) return this.enumValue(global.className, args)
    const call = CALLS.get(global.className)
    if (call === undefined) throw damaged(`${this.label}: '${global.className}' cannot be called`)
    return call(this, args, global.name)
  }

  instantiate(global: PickleGlobal): Value {
    if (!isModuleClass(global.module)) throw damaged(`${this.label}: '${global.className}' is not a class of the module`)
    if (global.className.startsWith(CUSTOM_CLASS)) return new PendingCustom(global.className.slice(CUSTOM_CLASS.length), null)
    return new ScriptObject(global.className, [], [])
  }

  setState(instance: Value, state: Value): Value {
    if (instance instanceof PendingCustom) return new CustomObject(instance.className, state)
    if (!(instance instanceof ScriptObject) || this.built.has(instance))
      throw damaged(`${this.label}: state for ${describe(instance)}, which takes none`)
    this.built.add(instance)
    const setState = this.setStateOf(instance.typeName)
    if (setState !== undefined) {
      this.pending.push({ object: instance, state, setState })
      return instance
    }
    if (!(state instanceof Map)) {
      throw damaged(`${this.label}: expected a dict as state of ${instance.typeName}, which has no __setstate__, found ${describe(state)}`)
    }
    for (const [name, value] of state) {
      instance.names.push(textOf(typeof name === 'string' ? name : null, `${this.label}: attribute of ${instance.typeName}`))
      instance.slots.push(value)
    }
    return instance
  }

  /** (storage, offset, sizes, strides, requires_grad, hooks) */
  rebuildTensor(args: readonly Value[]): Value {
    const [storage, offset, sizes, strides] = this.exactly(args, 6, 'a tensor')
    return this.tensor(storage, offset, sizes, strides, null)
  }

  /** (storage, offset, sizes, strides, qparams, requires_grad, hooks) */
  rebuildQuantized(args: readonly Value[]): Value {
    const [storage, offset, sizes, strides, params] = this.exactly(args, 7, 'a quantized tensor')
    return this.tensor(storage, offset, sizes, strides, quantOf(params, this.label, this.pool))
  }

  /** A list that says what its elements are. */
  typedList(args: readonly Value[], elementType: string): Value {
    const list = args[0]
    if (!Array.isArray(list) || args.length !== 1)
      throw damaged(`${this.label}: expected a list of ${elementType}, found ${describe(list)}`)
    if (this.checked.has(list)) return list
    this.checked.add(list)
    const wrong = list.find((item) => !isA(item, elementType))
    if (wrong !== undefined) throw damaged(`${this.label}: expected a list of ${elementType}, found ${describe(wrong)} in it`)
    setListType(list, elementType)
    return list
  }

  /** (value, type text) */
  typeTag(args: readonly Value[]): Value {
    const value = args[0]
    const type = textOf(args[1], `${this.label}: type of a container`)
    if (Array.isArray(value)) {
      const element = elementTypeOf(type)
      if (element !== undefined) setListType(value, element)
    } else if (!(value instanceof Map)) {
      throw damaged(`${this.label}: expected a list or dict of type ${type}, found ${describe(value)}`)
    }
    return value
  }

  private exactly(args: readonly Value[], count: number, what: string): readonly Value[] {
    if (args.length !== count) throw damaged(`${this.label}: expected ${count} parts of ${what}, found ${args.length}`)
    return args
  }

  private tensor(
    reference: Value | undefined,
    offset: Value | undefined,
    sizes: Value | undefined,
    strides: Value | undefined,
    quant: Quant | null,
  ): Value {
    if (!(reference instanceof StorageReference))
      throw damaged(`${this.label}: expected the storage of a tensor, found ${describe(reference)}`)
    const storage = this.storage(reference.key, reference.scalarType, reference.count)
    return this.pool.build(storage, {
      scalarType: reference.scalarType,
      offset: integerOf(offset, `${this.label}: offset of a tensor`, 0),
      sizes: sizesOf(sizes, `${this.label}: sizes of a tensor`),
      strides: sizesOf(strides, `${this.label}: strides of a tensor`),
      quant,
    })
  }

  /** Members of an enum class are one object per value, since programs compare them by identity. */
  private enumValue(className: string, args: readonly Value[]): Value {
    const value = args[0]
    if (args.length !== 1 || (typeof value !== 'number' && typeof value !== 'string' && !(value instanceof Float))) {
      throw damaged(`${this.label}: expected the value of a member of ${className}, found ${describe(value)}`)
    }
    const key = `${className} ${typeof value} ${String(value)}`
    const member = this.enums.get(key) ?? new ScriptObject(className, ['value'], [value])
    this.enums.set(key, member)
    this.built.add(member)
    return member
  }
}

/** The package of a class that the file itself defines, or a C++ class. */
function isModuleClass(module: string): boolean {
  return module === '__torch__' || module.startsWith('__torch__.')
}

function isA(value: Value, elementType: string): boolean {
  switch (elementType) {
    case 'int':
      return typeof value === 'number' || typeof value === 'bigint'
    case 'float':
      return value instanceof Float
    case 'bool':
      return typeof value === 'boolean'
    default:
      // a tensor that this runtime has no dtype for has a stand-in
      return value instanceof Tensor || value instanceof CustomObject
  }
}

type Call = (globals: ModuleGlobals, args: readonly Value[], name: string) => Value

const CALLS = new Map<string, Call>([
  ['torch._utils._rebuild_tensor_v2', (globals, args) => globals.rebuildTensor(args)],
  ['torch._utils._rebuild_qtensor', (globals, args) => globals.rebuildQuantized(args)],
  ['torch._utils._rebuild_sparse_tensor', () => unsupportedValue('a sparse tensor')],
  ['torch._utils._rebuild_parameter', (globals, args) => {
    if (!(args[0] instanceof Tensor)) throw damaged(`${globals.label}: expected a tensor as parameter, found ${describe(args[0])}`)
    return args[0]
  }],
  ['collections.OrderedDict', () => new Map()],
  ...[...LIST_BUILDERS].map(([name, type]): [string, Call] => [`torch.jit._pickle.${name}`, (globals, args) => globals.typedList(args, type)]),
  ['torch.jit._pickle.restore_type_tag', (globals, args) => globals.typeTag(args)],
  ['torch.jit._pickle.build_tensor_from_id', (globals) => {
    throw damaged(`${globals.label}: build_tensor_from_id needs a tensor table, which this file lacks`)
  }],
  ['torch.device', (globals, args) => deviceOf(textOf(args[0], `${globals.label}: a device`), globals.label)],
  ['builtins.complex', () => unsupportedValue('a complex number')],
]) // prettier-ignore
