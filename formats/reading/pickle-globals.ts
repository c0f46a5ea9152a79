import type { FunctionCode } from '../../program/code.js'
import { describe } from '../../runtime/tensor/describe.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { DType, DTYPE_NAMES, dtypeFromName } from '../../runtime/tensor/dtype.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { CUSTOM_CLASSES, CustomObject, MODULE_CLASSES, ScriptObject, setListType, type Value } from '../../runtime/tensor/value.js'
import { damaged, deviceOf, elementTypeOf, integerOf, sizesOf, textOf, typeTextOf, unexpected } from '../../program/file-error.js'
import type { PendingObject } from './parsed.js'
import { PickleGlobal, SCHEME } from '../containers/pickle/global.js'
import { scalarTypeOf } from '../containers/pickle/storage-class.js'
import { setDictType } from '../containers/dict-types.js'
import { quantOf } from './quantization.js'
import { sparseOf } from './sparse.js'
import type { TensorPool } from './tensor-pool.js'
import type { PickleMeaning } from '../containers/pickle/unpickler.js'
import type { ValueBudget } from '../containers/value-budget.js'

/** A storage class; models name one some hundred times. */
class StorageClass extends PickleGlobal {
  constructor(
    className: string,
    readonly scalarType: number,
  ) {
    super(className)
  }
}

/** A dtype by its name, `torch.float32`. */
class DTypeGlobal extends PickleGlobal {
  constructor(
    name: string,
    readonly type: DType,
  ) {
    super(name)
  }
}

/** A storage, before a tensor says how to view it. */
class StoredElements extends CustomObject {
  constructor(
    readonly scalarType: number,
    readonly storage: Storage,
  ) {
    super('a storage', null)
  }
}

export interface ModuleMeaning extends PickleMeaning {
  /** In the order in which their states were complete: inner objects first. */
  readonly pending: readonly PendingObject[]
}

/**
 * What the globals that PyTorch writes into the pickles of a module stand for. `storageOf` gives the storage of a key, at least
 * that long; `setStates` has by class the `__setstate__` by which it fills its objects.
 */
export function moduleGlobals(
  pool: TensorPool,
  storageOf: (key: string, scalarType: number, count: number) => Storage,
  setStates: ReadonlyMap<string, FunctionCode>,
  budget: ValueBudget,
): ModuleMeaning {
  const pending: PendingObject[] = []
  /** Objects that have no state yet. */
  const fresh = new Set<Value>()
  let calls: Calls | undefined

  return {
    pending,

    lookUp(name) {
      if (!name.startsWith(MODULE_CLASSES)) return valueGlobal(name, (calls ??= callsOf(pool)))
      return new PickleGlobal(name, ([value]) => {
        if (value !== undefined) return memberOf(name, value)
        const instance = name.startsWith(CUSTOM_CLASSES)
          ? new CustomObject(name.slice(CUSTOM_CLASSES.length), null)
          : new ScriptObject(name, [], [])
        fresh.add(instance)
        return instance
      })
    },

    persistentLoad([kind, type, key, , count]) {
      if (kind !== 'storage' || !(type instanceof StorageClass)) throw unexpected('a storage', type)
      const { scalarType } = type
      return new StoredElements(scalarType, storageOf(textOf(key), scalarType, integerOf(count, 0)))
    },

    setState(instance, state) {
      if (!fresh.delete(instance)) throw damaged(`state for ${describe(instance)}, which takes none`)
      if (instance instanceof ScriptObject) {
        const setState = setStates.get(instance.typeName)
        if (setState !== undefined) pending.push({ object: instance, state, setState })
        else if (state instanceof Map) {
          // one state may be that of many objects
          budget.spend(2 * state.size)
          state.forEach((value, name) => {
            instance.names.push(textOf(name))
            instance.slots.push(value)
          })
        } else throw unexpected(`a dict as state of ${instance.typeName}, which has no __setstate__`, state)
      } else (instance as CustomObject).state = state
    },
  }
}

/** A member of an enum, an object of its own each time: programs compare members by value, and `is` tells apart what PyTorch reads one by one. */
function memberOf(className: string, value: Value): ScriptObject {
  if (typeof value !== 'number' && typeof value !== 'string' && !(value instanceof Float))
    throw unexpected(`the value of a member of ${className}`, value)
  return new ScriptObject(className, ['value'], [value])
}

/** What globals that are no classes give when they are called, by name. */
type Calls = Readonly<Record<string, ((args: readonly Value[]) => Value) | undefined>>

function valueGlobal(name: string, calls: Calls): PickleGlobal | undefined {
  const scalarType = scalarTypeOf(name)
  if (scalarType >= 0) return new StorageClass(name, scalarType)
  // bytes, of which the tensor says what they are
  if (name === 'torch.storage.UntypedStorage') return new StorageClass(name, DType.uint8)
  const dtype = /^torch\.(\w+)$/.exec(name)?.[1]
  if (dtype !== undefined && (DTYPE_NAMES as readonly string[]).includes(dtype)) return new DTypeGlobal(name, dtypeFromName(dtype))
  const call = calls[name]
  return call !== undefined || SCHEME.test(name) ? new PickleGlobal(name, call) : undefined
}

function callsOf(pool: TensorPool): Calls {
  /** Lists whose elements were looked at. */
  const checked = new Set<Value>()

  const tensorOf = ([elements, offset, sizes, strides]: readonly Value[], quant: Quant | null): Value => {
    if (!(elements instanceof StoredElements)) throw unexpected('the storage of a tensor', elements)
    const { storage, scalarType } = elements
    return pool.build(storage, { scalarType, offset: integerOf(offset, 0), sizes: sizesOf(sizes), strides: sizesOf(strides), quant })
  }

  /** A list that says what its elements are. */
  const typedList = ([list]: readonly Value[], elementType: string): Value => {
    if (!Array.isArray(list)) throw unexpected(`a list of ${elementType}`, list)
    if (checked.has(list)) return list
    const wrong = list.find((item) => !isA(item, elementType))
    if (wrong !== undefined) throw unexpected(`a list of ${elementType}`, wrong)
    checked.add(list)
    setListType(list, elementType)
    return list
  }

  return {
    // storage, offset, sizes, strides, requires_grad, hooks
    'torch._utils._rebuild_tensor_v2': (args) => tensorOf(args, null),
    // storage, offset, sizes, strides, requires_grad, hooks, dtype: of dtypes without a class of storages
    'torch._utils._rebuild_tensor_v3': ([elements, offset, sizes, strides, , , dtype]) => {
      if (!(elements instanceof StoredElements)) throw unexpected('the storage of a tensor', elements)
      if (!(dtype instanceof DTypeGlobal)) throw unexpected('the dtype of a tensor', dtype)
      return tensorOf([new StoredElements(dtype.type, elements.storage), offset!, sizes!, strides!], null)
    },
    // storage, offset, sizes, strides, qparams, requires_grad, hooks
    'torch._utils._rebuild_qtensor': (args) =>
      tensorOf(
        args,
        quantOf(args[4], (tensor) => pool.numbers(tensor)),
      ),
    // layout, size, requires_grad, indices (of a compressed layout two tensors), values, hooks
    'torch._utils._rebuild_sparse_tensor': (args) => sparseOf(args, pool),
    'torch._utils._rebuild_parameter': ([value]) => {
      if (!(value instanceof Tensor)) throw unexpected('a tensor as parameter', value)
      return value
    },
    'collections.OrderedDict': () => new Map(),
    'torch.jit._pickle.build_intlist': (args) => typedList(args, 'int'),
    'torch.jit._pickle.build_doublelist': (args) => typedList(args, 'float'),
    'torch.jit._pickle.build_boollist': (args) => typedList(args, 'bool'),
    'torch.jit._pickle.build_tensorlist': (args) => typedList(args, 'Tensor'),
    // value, type text
    'torch.jit._pickle.restore_type_tag': ([value, type]) => {
      const text = typeTextOf(type)
      const element = elementTypeOf(text)
      if (!Array.isArray(value) && !(value instanceof Map)) throw unexpected(`a list or dict of type ${text}`, value)
      if (value instanceof Map) setDictType(value, text)
      else if (element !== undefined) setListType(value, element)
      return value
    },
    'torch.device': ([text]) => deviceOf(textOf(text)),
    'builtins.complex': ([re, im]) => {
      if (!(re instanceof Float && im instanceof Float))
        throw unexpected('two floats as parts of a complex number', re instanceof Float ? im : re)
      return new Complex(re.value, im.value)
    },
  }
}

function isA(value: Value, elementType: string): boolean {
  // a tensor that this runtime has no dtype for has a stand-in
  if (elementType === 'Tensor') return value instanceof Tensor || value instanceof CustomObject
  if (elementType === 'float') return value instanceof Float
  return elementType === 'bool' ? typeof value === 'boolean' : typeof value === 'number' || typeof value === 'bigint'
}
