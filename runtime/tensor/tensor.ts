import { check, PtliteError } from '../error.js'
import { anyItemOf, arrayTypeOf, elementValue, readTensor, type TypedArray } from './data.js'
import { type DType, dtypeFromName, dtypeName, type DTypeName, holdsComplex, isLimited, isQuantized, itemSize } from './dtype.js'
import { anything, checkOptions, reading } from './check-arguments.js'
import { KIND, kindOf } from './kind-of.js'
import { noteLimited } from './limited.js'
import * as features from '../features.js'
import type { DataOf, ElementOf, Nested } from './dtype-types.js'
import type { DetachedTensor } from './detached.js'
import { contentOf } from './content.js'
import { checkParameters, checkQuant, frozenQuant, type Quant, quantOf } from './quant.js'
import { Complex, Float } from './scalar.js'
import { noteCreated } from './scope.js'
import { contiguousStrides, extentOf, isContiguous, numelOf, sameShape, shapeText, sizesOf } from './shape.js'
import { arrayName } from '../intrinsics.js'
import { Storage } from './storage.js'
import type { TensorOperations } from './generated/operations.js'
import type { JSONOptions, TensorJSON } from './json.js'

export { holdsZeroPoint, isPerChannel, type PerChannelQuant, type PerTensorQuant, type Quant } from './quant.js'

/**
 * Throws INVALID_ARGUMENT unless sizes and offset are at least 0 and every element of the view lies in the storage. Every tensor
 * comes by here, however its view was reckoned: kernels rely on it. Strides below 0 are those of operators' own views (`flip`). A storage without memory gives nobody an address.
 */
function checkWalk(storage: Storage, offset: number, shape: readonly number[], strides: readonly number[], type: DType): void {
  const rank = shape.length
  let sound = strides.length === rank && offset >= 0
  let numel = 1
  let first = offset
  let last = offset
  for (let d = 0; d < rank; d++) {
    const size = shape[d]!
    const reach = (size - 1) * strides[d]!
    sound &&= size >= 0 && size <= Number.MAX_SAFE_INTEGER
    numel *= size
    if (reach < 0) first += reach
    else last += reach
  }
  const inside = numel === 0 || (first >= 0 && (last + 1) * itemSize(type) <= storage.byteLength) || !storage.live
  if (!(sound && inside && numel <= Number.MAX_SAFE_INTEGER)) refuseWalk(storage, offset, shape, strides, type)
}

function refuseWalk(storage: Storage, offset: number, shape: readonly number[], strides: readonly number[], type: DType): never {
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `a ${dtypeName(type)} view leaves its storage of ${storage.byteLength} bytes, has more than 2^53 - 1 elements, or less than one stride per size or than 0 as a size or offset: sizes [${shape.join(', ')}], strides [${strides.join(', ')}], offset ${offset}`,
  )
}

/** Methods that selective builds have no need of, which src/tensor-methods.ts gives it. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface Tensor<D extends DTypeName = DTypeName> extends TensorOperations<D> {}

// What addresses depend on is private: a tensor that callers get is as unchangeable to them as its storage (`hand`, `expose`), and what only looks like
// one, an object with this prototype or a proxy, has none of it.

/**
 * A strided view on a storage, inside of which all its elements lie. Sizes and strides are in elements; a view shares its storage with the tensor it
 * was made from. In-place shape operators (`squeeze_`, `resize_`) replace `shape` and `strides`. Callers make tensors by `tensor`,
 * `Tensor.fromStorage` and operators, and change them by operators alone. `D` is its dtype, where the caller knows it.
 *
 * @example
 * ```ts
 * const x = tensor(new Float32Array([1, 2, 3, 4, 5, 6]), [2, 3])
 * x.transpose(0, 1).slice(0, 1, 3).toArray() // [[2, 5], [3, 6]], of the same memory
 * x.mul(2).sum().item() // 42
 * x.data() // a Float32Array of its elements, in order
 * ```
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
export class Tensor<D extends DTypeName = DTypeName> {
  // own properties that could be seen would differ between equal tensors
  #uses = 0
  #pinned = false
  #storage: Storage
  #offset: number
  #shape: readonly number[]
  #strides: readonly number[]
  #type: DType
  #quant: Quant | null
  #released = false
  /** Callers know it: what they could change of it is fixed. */
  #fixed = false
  /** Structured clones would have nothing of the above. */
  declare private readonly uncloneable: symbol
  /** What comparisons by value see of it. */
  declare private content: object

  /**
   * The elements as plain data for another thread, `port.postMessage(detached, [detached.buffer])`, which makes a tensor of it by
   * `Tensor.from`. The tensor is disposed of. Throws DISPOSED.
   */
  declare readonly detach: () => DetachedTensor
  /** `dispose`, at the end of a block that has it by `using`. Not in selective builds. */
  declare readonly [Symbol.dispose]: () => void
  /**
   * dtype, shape and all elements, as `JSON.stringify` writes them and `Tensor.fromJSON` reads them. With `base64` the bytes of the elements in place of
   * numbers. Throws DISPOSED, and OUT_OF_MEMORY beyond 2^24 elements (403 MB with `base64`).
   */
  declare readonly toJSON: (options?: JSONOptions | string) => TensorJSON
  /** The elements in nested rows as PyTorch prints them, with the dtype; of more than 1,000 without their middle. */
  declare readonly toString: () => string
  /** What is at these indices of the first dimensions, a view without them: `t.at(0, -1)`. Negative ones count from the end. Throws INVALID_ARGUMENT. */
  declare readonly at: (...indices: readonly number[]) => Tensor<D>
  /** What is at each index of the first dimension: views without it. Tensors without dimensions have none. */
  declare readonly [Symbol.iterator]: () => IterableIterator<Tensor<D>>
  /** A tensor of what `detach` made, in this thread or another. Throws INVALID_ARGUMENT for anything else. */
  declare static readonly from: (detached: DetachedTensor) => Tensor
  /** The tensor of what `toJSON` gave, or of its text. Throws INVALID_ARGUMENT for anything else. */
  declare static readonly fromJSON: (json: unknown) => Tensor

  /**
   * `offset`: the first element, counted from the start of the storage in elements.
   * @internal
   */
  constructor(
    storage: Storage,
    offset: number,
    shape: readonly number[],
    strides: readonly number[],
    type: DType,
    quant: Quant | null = null,
  ) {
    checkWalk(storage, offset, shape, strides, type)
    this.#storage = storage
    this.#offset = offset
    this.#shape = shape
    this.#strides = strides
    this.#type = type
    this.#quant = quant
    if (features.limited && isLimited(type)) noteLimited()
    if (UNCLONEABLE !== null) this.uncloneable = UNCLONEABLE
    Storage.addUser(storage)
    noteCreated(this)
  }

  /**
   * True for what the constructor made, and for nothing else.
   * @internal
   */
  static isOne(value: object): value is Tensor {
    return #storage in value
  }

  /**
   * `t`, which a caller passed or called a method on: to be called for each one that comes in. Throws INVALID_ARGUMENT for what is no tensor,
   * and for one that the caller gave other properties.
   * @internal
   */
  static own(t: Tensor): Tensor {
    if (typeof t === 'object' && (t as unknown) !== null && #storage in t) {
      if (!t.#fixed) Tensor.expose(t)
      return t
    }
    throw new PtliteError('INVALID_ARGUMENT', `expected a Tensor, found ${kindOf(t)}`)
  }

  /**
   * As `own`, of an argument of a call. Throws DISPOSED where it or its memory was given back, whether or not the call comes to read it: whatever
   * carries calls out does the same then.
   * @internal
   */
  static argument(t: Tensor): Tensor {
    Tensor.own(t)
    if (t.#released || !(t.#storage.live || t.isSparse)) throw disposed()
    return t
  }

  /**
   * Makes nothing of a tensor changeable by those who know it, its storage included: to be called for each one that callers get. Lists that are not
   * `frozen` are copied, since callers may know them, too.
   * @internal
   */
  static hand(t: Tensor, frozen: boolean): void {
    if (t.#fixed) return
    t.#fixed = true
    if (!frozen || t.isSparse) t.#freeze()
    if (t.#quant !== null) t.#quant = frozenQuant(t.#quant)
    if (features.advice) t.content = contentOf(t)
    Object.preventExtensions(t)
    Object.preventExtensions(t.#storage)
  }

  /**
   * As `hand`, of a tensor that a caller knows by other ways.
   * @internal
   */
  static expose(this: void, t: Tensor): void {
    Tensor.hand(t, false)
  }

  /**
   * True where callers know the tensor.
   * @internal
   */
  static isHanded(t: Tensor): boolean {
    return t.#fixed
  }

  /**
   * Makes `t` another view. The caller has checked that it stays inside, and counted.
   * @internal
   */
  static relocate(t: Tensor, storage: Storage, offset: number, shape: readonly number[], strides: readonly number[]): void {
    t.#storage = storage
    t.#offset = offset
    t.#shape = shape
    t.#strides = strides
    if (!t.#fixed) return
    t.#freeze()
    Object.preventExtensions(storage)
  }

  /**
   * Gives the elements another meaning. The caller has checked that they have as many bytes.
   * @internal
   */
  static retype(t: Tensor, type: DType, quant: Quant | null): void {
    t.#type = type
    t.#quant = quant !== null && t.#fixed ? frozenQuant(quant) : quant
  }

  #freeze(): void {
    this.#shape = frozenList(this.#shape)
    this.#strides = frozenList(this.#strides)
  }

  /**
   * Holders that the interpreter counts: registers, stack slots and lists on the stack.
   * @internal
   */
  get uses(): number {
    return this.#uses
  }

  set uses(count: number) {
    this.#uses = count
  }

  /**
   * Held by something that is not counted (the caller, a module, a container): not released at its last use.
   * @internal
   */
  get pinned(): boolean {
    return this.#pinned
  }

  set pinned(isPinned: boolean) {
    this.#pinned = isPinned
  }

  /** @internal */
  get storage(): Storage {
    return this.#storage
  }

  /** First element, counted from the start of the storage in elements. */
  get offset(): number {
    return this.#offset
  }

  /** Its sizes. */
  get shape(): readonly number[] {
    return this.#shape
  }

  /** In elements. */
  get strides(): readonly number[] {
    return this.#strides
  }

  /** The number of the dtype. */
  get type(): DType {
    return this.#type
  }

  /** Scales and zero points of a quantized tensor; null for others. */
  get quant(): Quant | null {
    return this.#quant
  }

  /**
   * In coordinate form (sparse.ts), without memory of its own.
   * @internal
   */
  get isSparse(): boolean {
    return false
  }

  /** @internal */
  get [KIND](): string {
    return #storage in this ? 'Tensor' : 'what only looks like a Tensor'
  }

  /** The type of its elements. */
  get dtype(): D {
    return dtypeName(this.#type) as D
  }

  /** The number of its dimensions. */
  get dim(): number {
    return this.shape.length
  }

  /** The number of its elements. */
  get numel(): number {
    return numelOf(this.#shape)
  }

  /** Bytes of an element. */
  get itemSize(): number {
    return itemSize(this.type)
  }

  /** Whether its elements follow each other in row-major order. */
  get isContiguous(): boolean {
    return isContiguous(this.#shape, this.#strides)
  }

  /** Whether its elements are integers with scales and zero points. */
  get isQuantized(): boolean {
    return isQuantized(this.type)
  }

  /** Native address of the first element. Throws DISPOSED after release. */
  get address(): number {
    return this.#storage.address + this.#offset * itemSize(this.#type)
  }

  /**
   * A copy of the elements in row-major order: raw bits for float16 and bfloat16, bytes of 0 and 1 for bool, raw
   * integers for quantized tensors. Throws DISPOSED.
   */
  data(): DataOf<D> {
    return readTensor(Tensor.own(this)) as DataOf<D>
  }

  /** The only element as a number, boolean, bigint past 2^53, or Complex. Throws INVALID_ARGUMENT for other sizes. */
  item(): ElementOf<D> {
    const value = anyItemOf(Tensor.own(this))
    return (value instanceof Float ? value.value : value) as ElementOf<D>
  }

  /**
   * The elements in row-major order as numbers, quantized ones as their integers and bools as 0 and 1. Throws DISPOSED, INVALID_DTYPE for complex ones, and
   * INVALID_ARGUMENT where an integer is beyond 2^53.
   */
  numbers(): number[] {
    Tensor.own(this)
    if (holdsComplex(this)) throw new PtliteError('INVALID_DTYPE', 'numbers() of a complex tensor: take its parts by aten::view_as_real')
    return Array.from(readTensor(this) as ArrayLike<number | bigint>, (raw) => {
      const value = Number(elementValue(raw, this.type))
      if (typeof raw === 'bigint' && !Number.isSafeInteger(value))
        throw new PtliteError('INVALID_ARGUMENT', `numbers(): ${raw} is beyond what a number holds exactly; data() has bigints`)
      return value
    })
  }

  /**
   * The elements as numbers (bigints for integers beyond 2^53, booleans for bool, Complex for complex ones) in nested arrays; a number for a 0-d tensor.
   * Throws OUT_OF_MEMORY beyond 2^27 of them and their arrays. `Rows` is what the caller knows of their depth: `toArray<number[][]>()`.
   */
  toArray<Rows extends Nested<ElementOf<D>> = Nested<ElementOf<D>>>(): Rows {
    Tensor.own(this)
    checkNested(this.shape)
    const data = readTensor(this)
    let at = 0
    const build = (dim: number): NestedNumbers => {
      if (dim < this.shape.length) return Array.from({ length: this.shape[dim]! }, () => build(dim + 1))
      if (holdsComplex(this)) return new Complex(Number(data[at++]), Number(data[at++]))
      const value = elementValue(data[at++]!, this.type)
      return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
    }
    return build(0) as Rows
  }

  /** Gives the memory back now rather than when the tensor is collected. Views on it are dead then. */
  dispose(): void {
    if (!Tensor.isOne(this)) Tensor.own(this)
    this.release()
  }

  /**
   * A tensor over a copy of `data`, which is its whole storage: `strides` and `offset`, in elements, place the
   * view inside it. Throws INVALID_ARGUMENT where the view leaves the storage or the array does not fit the dtype.
   */
  static fromStorage<E extends DTypeName>(data: TypedArray, options: StorageOptions<E>): Tensor<E> {
    return reading(() => Tensor.checkedFromStorage(data, options)) as Tensor<E>
  }

  private static checkedFromStorage(data: TypedArray, options: StorageOptions): Tensor {
    checkOptions(options, STORAGE_TESTS, 'Tensor.fromStorage()')
    // each is read once: what is checked is what is used
    const { dtype, shape: sizes, strides: steps, offset = 0, quant: parameters } = options
    const type = dtypeFromName(dtype)
    const shape = sizesOf(sizes, 'shape')
    const strides = steps === undefined ? contiguousStrides(shape) : sizesOf(steps, 'strides')
    const quant = parameters !== undefined && parameters !== null ? quantOf(parameters) : null
    const found = arrayName(data)
    if (found !== arrayTypeOf(type).name) {
      throw new PtliteError('INVALID_ARGUMENT', `${dtype} data must be a ${arrayTypeOf(type).name}, found ${found ?? typeof data}`)
    }
    if (isQuantized(type) !== (quant !== null)) {
      throw new PtliteError('INVALID_ARGUMENT', `${dtype} tensors ${quant === null ? 'need' : 'take no'} quantization parameters`)
    }
    if (quant !== null) checkQuant(quant, shape, type)
    const storage = Storage.holding(data)
    // of the memory itself, as nothing that the array says of its length counts
    checkView(storage.byteLength / itemSize(type), shape, strides, offset)
    const t = new Tensor(storage, offset, shape, strides, type, quant)
    t.pinned = true
    Tensor.hand(t, false)
    return t
  }

  /** Gives up this tensor's share of its storage; the last share frees it. Harmless the second time. */
  release(): void {
    if (this.#released) return
    this.#released = true
    Storage.dropUser(this.#storage)
  }

  /** Whether `dispose` or `release` was called. */
  get isReleased(): boolean {
    return this.#released
  }
}

function disposed(): PtliteError {
  return new PtliteError('DISPOSED', 'an argument is a tensor that was disposed')
}

const STORAGE_TESTS = {
  dtype: anything,
  shape: anything,
  strides: anything,
  offset: anything,
  quant: anything,
} satisfies Record<keyof StorageOptions, unknown>

/** Lists that were frozen last: programs have the same ones again and again, and to freeze one takes as long as to make a tensor. */
const recent: (readonly number[])[] = [[], [], [], [], [], [], [], []].map((list) => Object.freeze(list))
let oldest = 0

/** A frozen list of these numbers. */
function frozenList(list: readonly number[]): readonly number[] {
  for (const other of recent) if (sameShape(other, list)) return other
  return (recent[oldest++ % recent.length] = Object.freeze(list.slice()))
}

/** Makes a tensor another view (`set_data`, `resize_`): counts move from the old storage to the new one. */
export function become(t: Tensor, storage: Storage, offset: number, shape: readonly number[], strides: readonly number[]): void {
  checkParameters(t.type, shape, t.quant)
  checkWalk(storage, offset, shape, strides, t.type)
  const before = t.storage
  if (storage !== before) {
    Storage.addUser(storage)
    // what the caller holds stays the garbage collector's
    if (before.isWatched) storage.watch()
    Storage.dropUser(before)
  }
  Tensor.relocate(t, storage, offset, shape, strides)
}

/** Numbers and arrays in nested arrays beyond which V8 ends the process. */
const MAX_NESTED = 2 ** 27

/** An empty tensor can have any number of arrays around its missing elements. */
function checkNested(shape: readonly number[]): void {
  let level = 1
  let all = 0
  for (const size of shape) all += level *= size
  if (all > MAX_NESTED)
    throw new PtliteError('OUT_OF_MEMORY', `toArray() of shape ${shapeText(shape)}: expected at most 2^27 numbers and arrays, found ${all}`)
}

/** Numbers in nested arrays. */
export type NestedNumbers = number | bigint | boolean | Complex | NestedNumbers[]

/** What `Tensor.fromStorage` takes. */
export interface StorageOptions<D extends DTypeName = DTypeName> {
  /** Of the elements. */
  readonly dtype: D
  /** Sizes of its dimensions. */
  readonly shape: readonly number[]
  /** In elements; row-major without. */
  readonly strides?: readonly number[] | undefined
  /** First element of the view, in elements. */
  readonly offset?: number | undefined
  /** Required for quantized dtypes. */
  readonly quant?: Quant | null | undefined
}

function checkView(length: number, shape: readonly number[], strides: readonly number[], offset: number): void {
  const natural = (x: number): boolean => Number.isSafeInteger(x) && x >= 0
  if (strides.length !== shape.length || ![...shape, ...strides, offset].every(natural)) {
    throw new PtliteError('INVALID_ARGUMENT', 'sizes, strides and offset must be integers of at least 0, one stride per size')
  }
  const extent = extentOf(shape, strides)
  if (extent > 0 && offset + extent > length) {
    throw new PtliteError('INVALID_ARGUMENT', `the view needs ${offset + extent} elements, the storage has ${length}`)
  }
}

/** A new contiguous tensor with undefined contents. */
export function empty(shape: readonly number[], type: DType, quant: Quant | null = null): Tensor {
  return emptyStrided(shape, contiguousStrides(shape), type, quant)
}

/**
 * A new dense tensor with undefined contents and these strides, which must cover the shape without overlap. Throws INVALID_DTYPE
 * for a quantized dtype without parameters, INVALID_ARGUMENT for parameters of another number of channels.
 */
export function emptyStrided(shape: readonly number[], strides: readonly number[], type: DType, quant: Quant | null = null): Tensor {
  checkParameters(type, shape, quant)
  return new Tensor(Storage.allocate(bytesFor(shape, type)), 0, shape, strides, type, quant)
}

/** Bytes of a dense tensor. Throws INVALID_ARGUMENT for negative sizes, OUT_OF_MEMORY for more than any machine has. */
export function bytesFor(shape: readonly number[], type: DType): number {
  let bytes = itemSize(type)
  let least = 0
  for (let d = 0; d < shape.length; d++) {
    bytes *= shape[d]!
    least = Math.min(least, shape[d]!)
  }
  check(least >= 0, () => `expected sizes of at least 0, found [${shape.join(', ')}]`)
  if (bytes <= Number.MAX_SAFE_INTEGER) return bytes
  throw new PtliteError('OUT_OF_MEMORY', `no system has the memory for a ${dtypeName(type)} tensor of shape [${shape.join(', ')}]`)
}

/** Another view on the storage of `base`, quantized in the same way. Throws INVALID_ARGUMENT where it would leave the storage. */
export function viewOf(base: Tensor, shape: readonly number[], strides: readonly number[], offset = base.offset): Tensor {
  checkParameters(base.type, shape, base.quant)
  return new Tensor(base.storage, offset, shape, strides, base.type, base.quant)
}

/** The error of a structured clone names the value that has none. */
export const UNCLONEABLE: symbol | null = /* @__PURE__ */ Symbol(
  'a Tensor: clone or post tensor.detach(), and make a tensor of it by Tensor.from(). It',
)
