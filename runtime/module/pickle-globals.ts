import type { FunctionCode } from '../interpreter/code.js'
import { Float } from '../tensor/scalar.js'
import type { Storage } from '../tensor/storage.js'
import { type Quant, Tensor } from '../tensor/tensor.js'
import { CustomObject, ScriptObject, setListType, type Value } from '../tensor/value.js'
import { damaged, describe, deviceOf, elementTypeOf, integerOf, sizesOf, textOf, unexpected } from './file-error.js'
import type { PendingObject } from './parsed.js'
import { PickleGlobal, SCHEME } from './pickle-global.js'
import { quantOf } from './quantization.js'
import { type TensorPool, unsupportedValue } from './tensor-pool.js'
import type { PickleMeaning } from './unpickler.js'

const MODULE_CLASS = '__torch__.'
const CUSTOM_CLASS = '__torch__.torch.classes.'

/** Of the storage classes, in the order of the c10::ScalarType numbers. */
const STORAGES = (
  'Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool QInt8 QUInt8 QInt32 BFloat16 ' +
  'QUInt4x2 QUInt2x4'
).split(' ')

/** The number of a storage class, -1 for other names. */
function scalarTypeOf(name: string): number {
  return STORAGES.indexOf(/^torch\.(\w+)Storage$/.exec(name)?.[1] ?? '')
}

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

export interface ModuleMeaning extends PickleMeaning {
  /** In the order in which their states were complete: inner objects first. */
  readonly pending: readonly PendingObject[]
}

/** What the calls of one pickle share. */
interface Context {
  readonly pool: TensorPool
  /** The storage of a key, at least that long. */
  readonly storageOf: (key: string, scalarType: number, count: number) => Storage
  /** Lists whose elements were looked at, and objects that have their state. */
  readonly done: Set<object>
}

/**
 * What the globals that PyTorch writes into the pickles of a module stand for. `storageOf` gives the storage of a key, at least
 * that long; `setStateOf` the `__setstate__` by which a class fills its objects, if it has one.
 */
export function moduleGlobals(
  pool: TensorPool,
  storageOf: Context['storageOf'],
  setStateOf: (className: string) => FunctionCode | undefined,
): ModuleMeaning {
  const pending: PendingObject[] = []
  const enums = new Map<string, ScriptObject>()
  const done = new Set<object>()

  /** Members of an enum class are one object per value, since programs compare them by identity. */
  const enumMember = (className: string, [value]: readonly Value[]): Value => {
    if (typeof value !== 'number' && typeof value !== 'string' && !(value instanceof Float))
      throw unexpected(`the value of a member of ${className}`, value)
    const key = `${className} ${typeof value} ${String(value)}`
    const member = enums.get(key) ?? new ScriptObject(className, ['value'], [value])
    enums.set(key, member)
    done.add(member)
    return member
  }

  return {
    pending,

    allows: (name) => name.startsWith(MODULE_CLASS) || CALLS[name] !== undefined || scalarTypeOf(name) >= 0 || SCHEME.test(name),

    call(name, args) {
      if (name.startsWith(MODULE_CLASS)) return enumMember(name, args)
      const call = CALLS[name]
      if (call === undefined) throw damaged(`'${name}' cannot be called`)
      return call(args, { pool, storageOf, done })
    },

    persistentLoad([kind, type, key, , count]) {
      const scalarType = type instanceof PickleGlobal ? scalarTypeOf(type.className) : -1
      if (kind !== 'storage' || scalarType < 0) throw unexpected('a storage', type)
      return new StorageReference(scalarType, textOf(key), integerOf(count, 0))
    },

    instantiate(className) {
      if (!className.startsWith(MODULE_CLASS)) throw damaged(`'${className}' is not a class of the module`)
      return className.startsWith(CUSTOM_CLASS)
        ? new PendingCustom(className.slice(CUSTOM_CLASS.length), null)
        : new ScriptObject(className, [], [])
    },

    setState(instance, state) {
      if (instance instanceof PendingCustom) return new CustomObject(instance.className, state)
      if (!(instance instanceof ScriptObject) || done.has(instance)) throw damaged(`state for ${describe(instance)}, which takes none`)
      done.add(instance)
      const setState = setStateOf(instance.typeName)
      if (setState !== undefined) pending.push({ object: instance, state, setState })
      else if (state instanceof Map) {
        for (const [name, value] of state) {
          instance.names.push(textOf(typeof name === 'string' ? name : null))
          instance.slots.push(value)
        }
      } else throw unexpected(`a dict as state of ${instance.typeName}, which has no __setstate__`, state)
      return instance
    },
  }
}

const CALLS: Readonly<Record<string, ((args: readonly Value[], context: Context) => Value) | undefined>> = {
  // storage, offset, sizes, strides, requires_grad, hooks
  'torch._utils._rebuild_tensor_v2': (args, context) => tensorOf(exactly(args, 6), null, context),
  // storage, offset, sizes, strides, qparams, requires_grad, hooks
  'torch._utils._rebuild_qtensor': (args, context) => tensorOf(exactly(args, 7), quantOf(args[4], context.pool), context),
  'torch._utils._rebuild_sparse_tensor': () => unsupportedValue('a sparse tensor'),
  'torch._utils._rebuild_parameter': ([value]) => {
    if (!(value instanceof Tensor)) throw unexpected('a tensor as parameter', value)
    return value
  },
  'collections.OrderedDict': () => new Map(),
  'torch.jit._pickle.build_intlist': (args, { done }) => typedList(args, 'int', done),
  'torch.jit._pickle.build_doublelist': (args, { done }) => typedList(args, 'float', done),
  'torch.jit._pickle.build_boollist': (args, { done }) => typedList(args, 'bool', done),
  'torch.jit._pickle.build_tensorlist': (args, { done }) => typedList(args, 'Tensor', done),
  // value, type text
  'torch.jit._pickle.restore_type_tag': ([value, type]) => {
    const element = elementTypeOf(textOf(type))
    if (!Array.isArray(value) && !(value instanceof Map)) throw unexpected(`a list or dict of type ${textOf(type)}`, value)
    if (Array.isArray(value) && element !== undefined) setListType(value, element)
    return value
  },
  'torch.jit._pickle.build_tensor_from_id': () => {
    throw damaged('build_tensor_from_id needs a tensor table, which this file lacks')
  },
  'torch.device': ([text]) => deviceOf(textOf(text)),
  'builtins.complex': () => unsupportedValue('a complex number'),
}

function exactly(args: readonly Value[], count: number): readonly Value[] {
  if (args.length !== count) throw damaged(`expected ${count} arguments of a call, found ${args.length}`)
  return args
}

function tensorOf([reference, offset, sizes, strides]: readonly Value[], quant: Quant | null, { pool, storageOf }: Context): Value {
  if (!(reference instanceof StorageReference)) throw unexpected('the storage of a tensor', reference)
  const { scalarType, key, count } = reference
  return pool.build(storageOf(key, scalarType, count), {
    scalarType,
    offset: integerOf(offset, 0),
    sizes: sizesOf(sizes),
    strides: sizesOf(strides),
    quant,
  })
}

/** A list that says what its elements are. */
function typedList(args: readonly Value[], elementType: string, done: Set<object>): Value {
  const [list] = exactly(args, 1)
  if (!Array.isArray(list)) throw unexpected(`a list of ${elementType}`, list)
  if (done.has(list)) return list
  done.add(list)
  const wrong = list.find((item) => !isA(item, elementType))
  if (wrong !== undefined) throw unexpected(`a list of ${elementType}`, wrong)
  setListType(list, elementType)
  return list
}

function isA(value: Value, elementType: string): boolean {
  // a tensor that this runtime has no dtype for has a stand-in
  if (elementType === 'Tensor') return value instanceof Tensor || value instanceof CustomObject
  if (elementType === 'float') return value instanceof Float
  return elementType === 'bool' ? typeof value === 'boolean' : typeof value === 'number' || typeof value === 'bigint'
}
