import { pace } from '../pace.js'
import { Complex, type Float } from './scalar.js'
import type { Tensor } from './tensor.js'

/** A TorchScript tuple; `fields` names the elements of a NamedTuple. */
export class Tuple {
  constructor(
    readonly items: Value[],
    readonly fields?: readonly string[],
  ) {}
}

/** A module or an instance of a TorchScript class. Slots are addressed by number; `names` follow the slots. */
export class ScriptObject {
  constructor(
    readonly typeName: string,
    readonly names: string[],
    readonly slots: Value[],
  ) {}
}

let readCache: (object: CustomObject) => unknown
let writeCache: (object: CustomObject, cache: unknown) => void

/** What TorchScript's names of a program's classes begin with. */
export const MODULE_CLASSES = '__torch__.'
/** And those of classes in C++. */
export const CUSTOM_CLASSES = '__torch__.torch.classes.'

/** An instance of a C++ class, such as packed weights: its class and serialised state. */
export class CustomObject {
  #cache: unknown

  constructor(
    readonly className: string,
    /** Set once, where a file makes the object before its state. */
    public state: Value,
  ) {}

  static {
    readCache = (object) => object.#cache
    writeCache = (object, cache) => {
      object.#cache = cache
    }
  }
}

/** What the operators of an object's class keep between calls, e.g. weights in kernel layout. */
export function cacheOf(object: CustomObject): unknown {
  return readCache(object)
}

export function setCache(object: CustomObject, cache: unknown): void {
  writeCache(object, cache)
}

/** A device of a program. Everything runs on the CPU; other types only name where a tensor once was. */
export class Device {
  constructor(
    readonly type: string,
    readonly index: number | null = null,
  ) {}

  /** As PyTorch writes it: `cpu`, `cuda:0`. */
  toString(): string {
    return this.index === null ? this.type : `${this.type}:${this.index}`
  }
}

/**
 * Keys of a dict: floats are plain numbers here, since a dict's type says what its keys are. Equal complex numbers are one key;
 * `keyIn` finds it, as a Map goes by identity.
 */
export type DictKey = number | bigint | string | boolean | Complex | Tensor

/** The key that a dict holds for `key`, or `key` itself: of complex numbers that is one with equal parts, looked for one by one. */
export function keyIn(dict: Map<DictKey, Value>, key: DictKey): DictKey {
  if (!(key instanceof Complex)) return key
  pace(dict.size)
  for (const other of dict.keys()) if (other instanceof Complex && other.re === key.re && other.im === key.im) return other
  return key
}

/**
 * Every value that a register can hold. Ints are numbers or bigints, floats are Float, complex numbers Complex, lists are arrays,
 * dicts are Maps in insertion order. Layouts, dtypes and memory formats are ints, as in bytecode.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | Float
  | Complex
  | string
  | Tensor
  | Value[]
  | Tuple
  | Map<DictKey, Value>
  | ScriptObject
  | CustomObject
  | Device

const listTypes = new WeakMap<Value[], string>()

/** Remembers the element type of a list whose elements cannot tell it, i.e. an empty one. */
export function setListType(list: Value[], elementType: string): void {
  listTypes.set(list, elementType)
}

export function listType(list: Value[]): string | undefined {
  return listTypes.get(list)
}

/** The value stack. Everything at index `top` and above is dead and may be overwritten. */
export interface Stack {
  readonly values: Value[]
  top: number
}

export function newStack(): Stack {
  return { values: [], top: 0 }
}

export function push(stack: Stack, value: Value): void {
  stack.values[stack.top++] = value
}

/** A random number generator of a program (torch.Generator). Its state is an int64 tensor: that of the engine, then the seed. */
export class RandomGenerator extends CustomObject {
  constructor() {
    super('Generator', null)
  }
}

export type Container = Value[] | Tuple | Map<DictKey, Value>

export function isContainer(value: Value): value is Container {
  return Array.isArray(value) || value instanceof Tuple || value instanceof Map
}
