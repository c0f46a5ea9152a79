import { DType } from '../runtime/tensor/dtype.js'
import { Float } from '../runtime/tensor/scalar.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { Opcode } from './generated/opcodes.js'
import type { LinkedFunction } from './linked.js'
import { ModuleWalk } from './module-walk.js'
import { reachable } from './reach.js'
import { modulesOf } from './training.js'

/** Where operators have what is multiplied, the matrix and what is added; null for nothing. */
export interface ProductArguments {
  readonly input: number
  readonly matrix: number
  readonly bias: number | null
}

/** A call that multiplies by the same float32 matrix of the module whenever it runs. */
export interface LinearCall {
  readonly fn: LinkedFunction
  readonly pc: number
  /** As the module has it: [outputs, inputs], or [inputs, outputs] where it `isTurned`. */
  readonly weight: Tensor
  readonly isTurned: boolean
  readonly at: ProductArguments
}

/** A call that looks up rows of a matrix of the module that linear calls multiply by, too. */
export interface LookupCall {
  readonly fn: LinkedFunction
  readonly pc: number
  readonly weight: Tensor
}

export interface MatrixCalls {
  readonly products: readonly LinearCall[]
  readonly lookups: readonly LookupCall[]
}

/** Tells matrices apart that are not the same memory seen the same way: those that layers share are tensors of their own. */
export class Views<T> {
  private readonly byStorage = new Map<Storage, Map<string, T>>()

  get({ storage, offset, shape, strides }: Tensor): T | undefined {
    return this.byStorage.get(storage)?.get(`${offset}:${shape.join()}:${strides.join()}`)
  }

  set({ storage, offset, shape, strides }: Tensor, value: T): void {
    const views = this.byStorage.get(storage) ?? new Map<string, T>()
    this.byStorage.set(storage, views.set(`${offset}:${shape.join()}:${strides.join()}`, value))
  }
}

/** What is known of a value before anything runs. */
type Known =
  | { readonly kind: 'object'; readonly object: ScriptObject }
  | { readonly kind: 'tensor'; readonly tensor: Tensor }
  | { readonly kind: 'none' }
  | { readonly kind: 'one' }

/** Products whose matrix is [inputs, outputs]. */
const TURNED: Readonly<Record<string, ProductArguments>> = {
  'aten::matmul': { input: 0, matrix: 1, bias: null },
  'aten::mm': { input: 0, matrix: 1, bias: null },
  // without factors of the product and the bias
  'aten::addmm': { input: 1, matrix: 2, bias: 0 },
}

/**
 * The linear layers of a program, and products with a matrix, whose matrices nothing else reads but embeddings of the same rows, as its code says; nothing runs. Empty for a
 * program whose code is too large to follow.
 */
export function matrixCalls(functions: readonly LinkedFunction[], root: ScriptObject): MatrixCalls {
  return new Search(functions, root).calls()
}

class Search extends ModuleWalk<Known> {
  /** By function and instruction; null where the weight is not always the same. */
  private readonly found = new Map<LinkedFunction, Map<number, LinearCall | null>>()
  private readonly lookedUp = new Map<LinkedFunction, Map<number, LookupCall | null>>()
  /** What something else than a linear layer or an embedding reads, or may. */
  private readonly read = new Set<Storage>()
  /** What something asks the sizes of, as embeddings with a padding do. */
  private readonly measured = new Set<Storage>()
  private readonly objects: readonly ScriptObject[]
  /** Of the code at hand: stores into each register, and the places that are jumped back to. */
  private loops: ReturnType<typeof survey> = { stores: new Map(), repeated: new Set() }
  /** What was stored in registers of the code at hand, and those that were read where nothing had been. */
  private readonly stored = new Map<number, (Known | undefined)[]>()
  private readonly early = new Set<number>()

  constructor(functions: readonly LinkedFunction[], root: ScriptObject) {
    super(functions, root)
    this.objects = [...modulesOf(root)]
  }

  calls(): MatrixCalls {
    const { root } = this
    if (!this.followMethods({ kind: 'object', object: root })) return { products: [], lookups: [] }
    const products = madeOf(this.found)
    const forms = new Views<Set<boolean>>()
    for (const { weight, isTurned } of products) forms.set(weight, (forms.get(weight) ?? new Set()).add(isTurned))
    const lookups = madeOf(this.lookedUp)
    // rows that are looked up are outputs of the layers
    for (const { weight } of lookups) if (forms.get(weight)?.has(false) !== true) this.read.add(weight.storage)
    // these keep their sizes
    const shown = new Set(lookups.map(({ weight }) => weight.storage))
    const isFree = ({ weight: { storage }, weight }: LookupCall): boolean =>
      !this.read.has(storage) && forms.get(weight)!.size === 1 && (!this.measured.has(storage) || shown.has(storage))
    return { products: products.filter(isFree), lookups: lookups.filter(isFree) }
  }

  protected use(...values: readonly (Known | undefined)[]): void {
    for (const value of values) if (value?.kind === 'tensor') this.read.add(value.tensor.storage)
  }

  protected override begin(code: Int32Array): void {
    this.loops = survey(code)
    this.stored.clear()
    this.early.clear()
  }

  /** What is on the stack where a loop begins again is not known. */
  protected override arrive(pc: number, stack: (Known | undefined)[]): void {
    if (this.loops.repeated.has(pc)) this.use(...stack.splice(0, stack.length, ...stack.map(() => undefined)))
  }

  protected override turn(stack: readonly (Known | undefined)[]): void {
    this.use(...stack)
  }

  protected override load(registers: Map<number, Known | undefined>, register: number): Known | undefined {
    if (!registers.has(register)) {
      this.early.add(register)
      this.use(...(this.stored.get(register) ?? []))
    }
    return registers.get(register)
  }

  /** A register that a loop may fill again is not known. */
  protected override store(registers: Map<number, Known | undefined>, register: number, value: Known | undefined): void {
    const { stores, repeated } = this.loops
    const isSure = repeated.size === 0 || (stores.get(register) === 1 && !this.early.has(register))
    if (!isSure) this.use(value)
    this.stored.set(register, [...(this.stored.get(register) ?? []), value])
    registers.set(register, isSure ? value : undefined)
  }

  protected apply(fn: LinkedFunction, pc: number, values: readonly (Known | undefined)[]): undefined {
    const { source, operators } = fn
    const [opcode, x] = [source.code[3 * pc]!, source.code[3 * pc + 1]!]
    const self = values[0]?.kind === 'object' ? values[0] : undefined
    this.enterCallees(fn, pc, self?.object ?? null, self)
    const name = opcode <= Opcode.OPN ? operators[x]?.qualifiedName : undefined
    const turned = name === undefined ? undefined : TURNED[name]
    if (name === 'aten::linear') this.linear(fn, pc, values)
    else if (name === 'aten::embedding') this.embedding(fn, pc, values)
    else if (name === 'aten::size' || name === 'aten::size.int') this.size(values)
    else if (turned !== undefined && values.slice(3).every((value) => value?.kind === 'one')) this.product(fn, pc, values, turned, true)
    else this.use(...values)
  }

  private linear(fn: LinkedFunction, pc: number, values: readonly (Known | undefined)[]): void {
    // None where it is left out
    const bias: Known | undefined = values.length === 2 ? { kind: 'none' } : values[2]
    const isKnown = bias?.kind === 'none' || bias?.kind === 'tensor'
    this.product(fn, pc, values, { input: 0, matrix: 1, bias: bias?.kind === 'tensor' ? 2 : null }, false, isKnown)
  }

  private embedding(fn: LinkedFunction, pc: number, values: readonly (Known | undefined)[]): void {
    const [weight, ...others] = values
    this.use(...others)
    const call = isFloatMatrix(weight) ? { fn, pc, weight: weight.tensor } : null
    this.keep(this.lookedUp, fn, pc, call, weight, (before) => before.weight === call?.weight)
  }

  private size([of, ...others]: readonly (Known | undefined)[]): void {
    if (of?.kind === 'tensor') this.measured.add(of.tensor.storage)
    this.use(...others)
  }

  /** Keeps what a call is, where it is that whenever it runs; else the matrices are read in a way that is not known. */
  private keep<C extends { readonly weight: Tensor }>(
    found: Map<LinkedFunction, Map<number, C | null>>,
    fn: LinkedFunction,
    pc: number,
    call: C | null,
    weight: Known | undefined,
    isSameAs: (before: C) => boolean,
  ): void {
    const byPc = found.get(fn) ?? new Map<number, C | null>()
    found.set(fn, byPc)
    const before = byPc.get(pc)
    const isSame = before === undefined || (before !== null && isSameAs(before))
    byPc.set(pc, isSame ? call : null)
    if (isSame && call !== null) return
    this.use(weight, before === undefined || before === null ? undefined : { kind: 'tensor', tensor: before.weight })
  }

  private product(
    fn: LinkedFunction,
    pc: number,
    values: readonly (Known | undefined)[],
    at: ProductArguments,
    isTurned: boolean,
    isKnown = true,
  ): void {
    const weight = values[at.matrix]
    this.use(...values.filter((_, i) => i !== at.matrix))
    const call = isFloatMatrix(weight) && isKnown ? { fn, pc, weight: weight.tensor, isTurned, at } : null
    this.keep(this.found, fn, pc, call, weight, (before) => before.weight === call?.weight && before.at.bias === call.at.bias)
  }

  protected constant(value: Value | undefined): Known | undefined {
    if (value === null) return { kind: 'none' }
    if (value === 1 || (value instanceof Float && value.value === 1)) return { kind: 'one' }
    if (value instanceof ScriptObject) return { kind: 'object', object: value }
    if (value instanceof Tensor) return { kind: 'tensor', tensor: value }
    if (typeof value === 'object') for (const tensor of reachable([value])) this.read.add(tensor.storage)
    return undefined
  }

  protected attribute(of: Known | undefined, slot: number): Known | undefined {
    if (of?.kind === 'object') {
      const value = this.constant(of.object.slots[slot])
      if (!this.changing.has(slot)) return value
      this.use(value)
      return undefined
    }
    // it may be that of any object, and whatever is in it
    for (const { slots } of this.objects)
      for (const tensor of reachable(slots[slot] === undefined ? [] : [slots[slot]])) this.read.add(tensor.storage)
    return undefined
  }

  protected isSame(a: Known, b: Known): boolean {
    if (a.kind === 'object') return b.kind === 'object' && a.object === b.object
    if (a.kind === 'tensor') return b.kind === 'tensor' && a.tensor === b.tensor
    return b.kind === a.kind
  }

  protected override part(...values: readonly (Known | undefined)[]): void {
    this.use(...values)
  }
}

function madeOf<C>(found: ReadonlyMap<LinkedFunction, ReadonlyMap<number, C | null>>): C[] {
  return [...found.values()].flatMap((byPc) => [...byPc.values()]).filter((call) => call !== null)
}

function isFloatMatrix(known: Known | undefined): known is { readonly kind: 'tensor'; readonly tensor: Tensor } {
  return known?.kind === 'tensor' && known.tensor.type === DType.float32 && known.tensor.dim === 2
}

/** How many instructions store into each register, and the places that are jumped back to. */
function survey(code: Int32Array): { readonly stores: ReadonlyMap<number, number>; readonly repeated: ReadonlySet<number> } {
  const stores = new Map<number, number>()
  const repeated = new Set<number>()
  for (let at = 0; at < code.length; at += 3) {
    const [opcode, x] = [code[at]!, code[at + 1]!]
    if (opcode >= Opcode.JF && opcode <= Opcode.LOOP && x <= 0) repeated.add(at / 3 + x)
    const stored = opcode === Opcode.STORE ? 1 : opcode === Opcode.STOREN ? code[at + 2]! : 0
    for (let i = 0; i < stored; i++) stores.set(x + i, (stores.get(x + i) ?? 0) + 1)
  }
  return { stores, repeated }
}
