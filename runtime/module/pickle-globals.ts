import type { FunctionCode } from '../interpreter/code.js'
import { DType } from '../tensor/dtype.js'
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

const CUSTOM_CLASS = '__torch__.torch.classes.'

/** c10::ScalarType numbers of the storage classes. */
const STORAGE_TYPES: Readonly<Record<string, number | undefined>> = {
  'torch.ByteStorage': DType.uint8, 'torch.CharStorage': DType.int8, 'torch.ShortStorage': DType.int16, 'torch.IntStorage': DType.int32,
  'torch.LongStorage': DType.int64, 'torch.HalfStorage': DType.float16, 'torch.FloatStorage': DType.float32,
  'torch.DoubleStorage': DType.float64, 'torch.ComplexHalfStorage': 8, 'torch.ComplexFloatStorage': 9, 'torch.ComplexDoubleStorage': 10,
  'torch.BoolStorage': DType.bool, 'torch.QInt8Storage': DType.qint8, 'torch.QUInt8Storage': DType.quint8,
  'torch.QInt32Storage': DType.qint32, 'torch.BFloat16Storage': DType.bfloat16, 'torch.QUInt4x2Storage': DType.quint4x2,
  'torch.QUInt2x4Storage': 17,
} // prettier-ignore

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

/** A global that is called with `argCount` arguments, -1 for any number. */
type Call = readonly [argCount: number, call: (args: readonly Value[]) => Value]

export interface ModuleMeaning extends PickleMeaning {
  /** In the order in which their states were complete: inner objects first. */
  readonly pending: readonly PendingObject[]
}

/**
 * What the globals that PyTorch writes into the pickles of a module stand for. `storageOf` gives the storage of a key, at least
 * that long; `setStateOf` the `__setstate__` by which a class fills its objects, if it has one.
 */
export function moduleGlobals(
  pool: TensorPool,
  storageOf: (key: string, scalarType: number, count: number) => Storage,
  setStateOf: (className: string) => FunctionCode | undefined,
): ModuleMeaning {
  const pending: PendingObject[] = []
  const enums = new Map<string, ScriptObject>()
  /** Lists whose elements were looked at, and objects that have their state. */
  const done = new Set<object>()

  const tensor = (reference: Value, [offset, sizes, strides]: readonly Value[], quant: Quant | null): Value => {
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
  const listOf = (elementType: string, isElement: (item: Value) => boolean): Call => [
    1,
    ([list]): Value => {
      if (!Array.isArray(list)) throw unexpected(`a list of ${elementType}`, list)
      if (done.has(list)) return list
      done.add(list)
      const wrong = list.find((item) => !isElement(item))
      if (wrong !== undefined) throw unexpected(`a list of ${elementType}`, wrong)
      setListType(list, elementType)
      return list
    },
  ]

  const calls: Readonly<Record<string, Call | undefined>> = {
    // storage, offset, sizes, strides, requires_grad, hooks
    'torch._utils._rebuild_tensor_v2': [6, ([storage, ...layout]): Value => tensor(storage!, layout, null)],
    // storage, offset, sizes, strides, qparams, requires_grad, hooks
    'torch._utils._rebuild_qtensor': [7, ([storage, ...layout]): Value => tensor(storage!, layout, quantOf(layout[3], pool))],
    'torch._utils._rebuild_sparse_tensor': [-1, (): Value => unsupportedValue('a sparse tensor')],
    'torch._utils._rebuild_parameter': [
      -1,
      ([value]): Value => {
        if (!(value instanceof Tensor)) throw unexpected('a tensor as parameter', value)
        return value
      },
    ],
    'collections.OrderedDict': [-1, (): Value => new Map()],
    'torch.jit._pickle.build_intlist': listOf('int', (item) => typeof item === 'number' || typeof item === 'bigint'),
    'torch.jit._pickle.build_doublelist': listOf('float', (item) => item instanceof Float),
    'torch.jit._pickle.build_boollist': listOf('bool', (item) => typeof item === 'boolean'),
    // a tensor that this runtime has no dtype for has a stand-in
    'torch.jit._pickle.build_tensorlist': listOf('Tensor', (item) => item instanceof Tensor || item instanceof CustomObject),
    // value, type text
    'torch.jit._pickle.restore_type_tag': [
      2,
      ([value, type]): Value => {
        const element = elementTypeOf(textOf(type))
        if (!Array.isArray(value) && !(value instanceof Map)) throw unexpected(`a list or dict of type ${textOf(type)}`, value)
        if (Array.isArray(value) && element !== undefined) setListType(value, element)
        return value
      },
    ],
    'torch.jit._pickle.build_tensor_from_id': [
      -1,
      (): Value => {
        throw damaged('build_tensor_from_id needs a tensor table, which this file lacks')
      },
    ],
    'torch.device': [-1, ([text]): Value => deviceOf(textOf(text))],
    'builtins.complex': [-1, (): Value => unsupportedValue('a complex number')],
  }

  /** Members of an enum class are one object per value, since programs compare them by identity. */
  const enumMember = (className: string, value: Value): Value => {
    if (typeof value !== 'number' && typeof value !== 'string' && !(value instanceof Float)) {
      throw unexpected(`the value of a member of ${className}`, value)
    }
    const key = `${className} ${typeof value} ${String(value)}`
    const member = enums.get(key) ?? new ScriptObject(className, ['value'], [value])
    enums.set(key, member)
    done.add(member)
    return member
  }

  return {
    pending,

    global(name) {
      if (name.startsWith('__torch__.')) return new PickleGlobal(name, ([value]) => enumMember(name, value!), 1)
      const call = calls[name]
      if (call !== undefined) return new PickleGlobal(name, call[1], call[0])
      return STORAGE_TYPES[name] !== undefined || SCHEME.test(name) ? new PickleGlobal(name) : undefined
    },

    persistentLoad([kind, type, key, , count]) {
      const scalarType = type instanceof PickleGlobal ? STORAGE_TYPES[type.className] : undefined
      if (kind !== 'storage' || scalarType === undefined) throw unexpected('a storage', type)
      return new StorageReference(scalarType, textOf(key), integerOf(count, 0))
    },

    instantiate(className) {
      if (!className.startsWith('__torch__.')) throw damaged(`'${className}' is not a class of the module`)
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
