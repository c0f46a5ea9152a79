import { isWritten } from '../runtime/operators/table/schema.js'
import { isHalf } from '../runtime/tensor/half.js'
import { DType } from '../runtime/tensor/dtype.js'
import { isContiguous, sameShape } from '../runtime/tensor/shape.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { Opcode } from './generated/opcodes.js'
import type { LinkedFunction, LinkedOperator } from './linked.js'
import { ModuleWalk } from './module-walk.js'
import { reachable } from './reach.js'
import { modulesOf } from './training.js'

/** A tensor of the module's state whose rows are written one by one, or all at once, and read as a whole: keys or values of attention. */
export interface Cache extends Attribute {
  /** Attributes that show the same, and that no code reads, as programs have that were exported with their caches as constants. */
  readonly others: readonly Attribute[]
  /** The slot behind those of the object for what is to be kept beside it. */
  readonly beside: number
}

interface Attribute {
  readonly tensor: Tensor
  readonly object: ScriptObject
  readonly slot: number
}

/** What an instruction does with caches. Registers have numbers from 0, which are the function's own for what comes with a cache. */
export type CacheUse =
  /** Loads one from its slot. */
  | { readonly kind: 'load'; readonly beside: number; readonly register: number }
  /** Reads those that are arguments, by their places. */
  | { readonly kind: 'read'; readonly given: number; readonly places: ReadonlyMap<number, number> }
  /** Writes rows of argument `source` to the first one, or, as `made`, to a copy of it. */
  | { readonly kind: 'write'; readonly given: number; readonly register: number; readonly source: number; readonly made: number | null }
  /** Writes one to another. */
  | { readonly kind: 'copy'; readonly given: number; readonly register: number; readonly from: number }
  /** Sets all of one to 0. */
  | { readonly kind: 'clear'; readonly given: number; readonly register: number }

export interface CacheCalls {
  readonly caches: readonly Cache[]
  /** By function and instruction. */
  readonly uses: ReadonlyMap<LinkedFunction, ReadonlyMap<number, CacheUse>>
}

type Known =
  | { readonly kind: 'object'; readonly object: ScriptObject }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'false' }
  /** `parts` are those of its items that views are. */
  | { readonly kind: 'list'; readonly length: number; readonly parts: readonly View[] }
  | { readonly kind: 'cache'; readonly tensor: Tensor; readonly register: number }
  | View

/** May show what was read of a cache then. */
interface View {
  readonly kind: 'view'
  readonly tensor: Tensor
  readonly version: number
}

/** Where writes have the rows, by operator: those that write in place, and those that make a copy. */
const WRITES: ReadonlyMap<string, { readonly source: number; readonly copies: boolean }> = new Map([
  ['aten::index_copy_', { source: 3, copies: false }],
  ['aten::index_copy', { source: 3, copies: true }],
  ['aten::index_put_', { source: 2, copies: false }],
  ['aten::index_put', { source: 2, copies: true }],
  ['aten::index_put_.hacked_twin', { source: 2, copies: false }],
  ['aten::index_put.hacked_twin', { source: 2, copies: true }],
  ['aten::slice_scatter', { source: 1, copies: true }],
  ['aten::copy_', { source: 1, copies: false }],
])

/** What asks for sizes alone. */
const MEASURES = new Set(['aten::size', 'aten::size.int', 'aten::sym_size.int', 'aten::dim'])

/**
 * Attributes of a program that are caches of attention, [batch, heads, rows, numbers] in any order of the first three, and everything that its code does with them; nothing runs. An attribute that code does
 * something else with, or may, is none: it is returned, shared, set, written to by other operators, or read through a view that was there before a write.
 */
export function cacheCalls(functions: readonly LinkedFunction[], root: ScriptObject): CacheCalls {
  const others = new Set<Tensor>()
  for (;;) {
    const search = new Search(functions, root, others)
    const found = search.calls()
    if (found !== null) return found
  }
}

class Search extends ModuleWalk<Known> {
  private readonly bySlot = new Map<ScriptObject, Map<number, Cache>>()
  private readonly byCode: ReadonlyMap<Int32Array, FunctionUses>
  /** The function and the instruction at hand. */
  private current!: FunctionUses
  private pc = 0
  private repeats = false
  /** Writes to each cache that were come to, and calls, which may write to all. */
  private readonly writes = new Map<Tensor, number>()
  private callCount = 0

  constructor(
    functions: readonly LinkedFunction[],
    root: ScriptObject,
    /** What turned out to be no cache. */
    private readonly others: Set<Tensor>,
  ) {
    super(functions, root)
    this.byCode = new Map(functions.map((fn) => [fn.source.code, new FunctionUses(fn)]))
    for (const candidate of candidates(functions, root)) {
      const { tensor, object, slot } = candidate
      if (others.has(tensor)) continue
      const slots = this.bySlot.get(object) ?? new Map<number, Cache>()
      this.bySlot.set(object, slots.set(slot, { ...candidate, beside: object.slots.length + slots.size }))
    }
  }

  /** null where something turned out to be no cache. */
  calls(): CacheCalls | null {
    const { root, others } = this
    const before = others.size
    if (!this.followMethods({ kind: 'object', object: root })) return { caches: [], uses: new Map() }
    for (const uses of this.byCode.values()) for (const tensor of uses.inconstant()) others.add(tensor)
    const caches = [...this.bySlot.values()].flatMap((slots) => [...slots.values()])
    const written = new Set([...this.byCode.values()].flatMap((uses) => [...uses.written]))
    for (const { tensor } of caches) if (!written.has(tensor)) others.add(tensor)
    if (others.size > before) return null
    return { caches, uses: new Map([...this.byCode.values()].map(({ fn, uses }) => [fn, uses])) }
  }

  protected override begin(code: Int32Array): void {
    this.current = this.byCode.get(code)!
    this.current.visits++
    this.repeats = goesBack(code)
  }

  protected override arrive(pc: number): void {
    this.pc = pc
  }

  protected use(...values: readonly (Known | undefined)[]): void {
    for (const value of values) {
      if (value?.kind === 'cache' || value?.kind === 'view') this.others.add(value.tensor)
      if (value?.kind === 'list') this.use(...value.parts)
    }
  }

  protected override part(...values: readonly (Known | undefined)[]): void {
    this.use(...values)
  }

  protected override turn(stack: readonly (Known | undefined)[]): void {
    this.use(...stack)
  }

  protected constant(value: Value | undefined): Known | undefined {
    if (value === false) return { kind: 'false' }
    if (typeof value === 'number') return { kind: 'number', value }
    return value instanceof ScriptObject ? { kind: 'object', object: value } : undefined
  }

  protected attribute(of: Known | undefined, slot: number): Known | undefined {
    if (of?.kind !== 'object') {
      // it may be that of any object
      for (const slots of this.bySlot.values()) if (slots.has(slot)) this.others.add(slots.get(slot)!.tensor)
      return undefined
    }
    const cache = this.bySlot.get(of.object)?.get(slot)
    if (cache === undefined) return this.changing.has(slot) ? undefined : this.constant(of.object.slots[slot])
    const { tensor } = cache
    // what a loop holds is not followed
    if (this.changing.has(slot) || this.repeats) {
      this.others.add(tensor)
      return undefined
    }
    const register = this.current.registerAt(this.pc)
    this.note({ kind: 'load', beside: cache.beside, register }, tensor)
    return { kind: 'cache', tensor, register }
  }

  protected isSame(a: Known, b: Known): boolean {
    switch (a.kind) {
      case 'object':
        return b.kind === 'object' && a.object === b.object
      case 'number':
        return b.kind === 'number' && a.value === b.value
      case 'list':
        return b.kind === 'list' && a.length === b.length && a.parts.length + b.parts.length === 0
      case 'cache':
        return b.kind === 'cache' && a.tensor === b.tensor && a.register === b.register
      case 'view':
        return b.kind === 'view' && a.tensor === b.tensor && a.version === b.version
      case 'false':
        return b.kind === 'false'
    }
  }

  protected apply(fn: LinkedFunction, pc: number, values: readonly (Known | undefined)[]): readonly (Known | undefined)[] | undefined {
    const { source, operators } = fn
    const [opcode, x, n] = [source.code[3 * pc]!, source.code[3 * pc + 1]!, source.code[3 * pc + 2]!]
    if (opcode === Opcode.LIST_CONSTRUCT) {
      const parts = values.filter((value) => value?.kind === 'view')
      this.use(...values.filter((value) => value?.kind !== 'view'))
      return [{ kind: 'list', length: n, parts }]
    }
    const self = values[0]?.kind === 'object' ? values[0] : undefined
    this.enterCallees(fn, pc, self?.object ?? null, self)
    const operator = opcode === Opcode.OP ? operators[x] : undefined
    if (operator === undefined || operator.entry === null || operator.vararg) {
      this.callCount++
      this.use(...values)
      return undefined
    }
    return this.operator(operator, values)
  }

  private operator(operator: LinkedOperator, values: readonly (Known | undefined)[]): readonly (Known | undefined)[] | undefined {
    const { qualifiedName, returns } = operator
    const { schema } = operator.entry!
    const results = (known: Known): (Known | undefined)[] => Array.from({ length: Math.max(returns, 0) }, () => known)
    const written = this.write(operator, values)
    if (written !== null) return results(written)
    const places = new Map<number, number>()
    const shown = new Map<Tensor, Known>()
    for (const [place, value] of values.entries()) {
      const argument = place < values.length - operator.outs ? schema.arguments[place] : undefined
      const isRead = argument !== undefined && !isWritten(argument)
      for (const item of value?.kind === 'list' ? value.parts : [value]) {
        if (item?.kind !== 'cache' && item?.kind !== 'view') continue
        const isOld = item.kind === 'view' && item.version !== this.versionOf(item.tensor)
        const type = value === item ? /^Tensor\??$/ : /^Tensor\??\[\]$/
        if (isOld || !isRead || !type.test(argument.type)) this.use(item)
        shown.set(item.tensor, item)
        if (item.kind === 'cache' && !MEASURES.has(qualifiedName)) places.set(place, item.register)
      }
    }
    for (const tensor of shown.keys()) if (places.size > 0) this.note({ kind: 'read', given: values.length, places }, tensor)
    const [tensor] = shown.keys()
    if (tensor === undefined || schema.returns.every(({ alias }) => alias === null)) return undefined
    if (shown.size === 1) return results({ kind: 'view', tensor, version: this.versionOf(tensor) })
    // it is not known of which one
    this.use(...shown.values())
    return undefined
  }

  /** What a write to a cache gives; null for what is none. */
  private write({ qualifiedName, outs }: LinkedOperator, values: readonly (Known | undefined)[]): Known | null {
    const [cache] = values
    if (cache?.kind !== 'cache' || outs > 0) return null
    const { tensor, register } = cache
    const given = values.length
    const done = (use: CacheUse): Known => {
      this.writes.set(tensor, (this.writes.get(tensor) ?? 0) + 1)
      this.current.written.add(tensor)
      this.note(use, tensor)
      return cache
    }
    if (qualifiedName === 'aten::zero_') return done({ kind: 'clear', given, register })
    const row = WRITES.get(qualifiedName)
    if (row === undefined || !this.isOfRows(qualifiedName, values, tensor)) return null
    const source = values[row.source]
    if (qualifiedName === 'aten::copy_' && source?.kind === 'cache' && source.tensor === tensor)
      return done({ kind: 'copy', given, register, from: source.register })
    // it would have to be read first
    if (
      values.some(
        (value, i) => i > 0 && (value?.kind === 'cache' || value?.kind === 'view' || (value?.kind === 'list' && value.parts.length > 0)),
      )
    )
      return null
    if (!row.copies) return done({ kind: 'write', given, register, source: row.source, made: null })
    const made = this.current.registerAt(this.pc)
    this.note({ kind: 'write', given, register, source: row.source, made }, tensor)
    return { kind: 'cache', tensor, register: made }
  }

  /** Whether a write leaves rows of numbers whole. */
  private isOfRows(name: string, values: readonly (Known | undefined)[], { dim: rank }: Tensor): boolean {
    const isBefore = (place: number, otherwise?: number): boolean => {
      const found = values[place]
      const dim = place >= values.length ? otherwise : found?.kind === 'number' ? found.value : undefined
      return dim !== undefined && (dim < 0 ? dim < -1 : dim < rank - 1)
    }
    switch (name) {
      case 'aten::slice_scatter':
        return isBefore(2, 0)
      case 'aten::index_copy':
      case 'aten::index_copy_':
        return isBefore(1)
      case 'aten::copy_':
        return true
      default: {
        const indices = values[1]
        return indices?.kind === 'list' && indices.length < rank && (values.length < 4 || values[3]?.kind === 'false')
      }
    }
  }

  private versionOf(tensor: Tensor): number {
    return this.callCount + (this.writes.get(tensor) ?? 0)
  }

  private note(use: CacheUse, tensor: Tensor): void {
    this.current.note(this.pc, use, tensor)
  }
}

/** What a function does with caches, whatever object it is called on. */
class FunctionUses {
  readonly uses = new Map<number, CacheUse>()
  /** Caches that it writes to. */
  readonly written = new Set<Tensor>()
  /** Objects that it was followed for. */
  visits = 0
  private readonly notes = new Map<number, { readonly texts: Set<string>; readonly tensors: Set<Tensor>; count: number; visit: number }>()
  private readonly registers = new Map<number, number>()

  constructor(readonly fn: LinkedFunction) {}

  /** A register for what an instruction brings. */
  registerAt(pc: number): number {
    const known = this.registers.get(pc) ?? this.registers.size
    this.registers.set(pc, known)
    return known
  }

  note(pc: number, use: CacheUse, tensor: Tensor): void {
    this.uses.set(pc, use)
    const noted = this.notes.get(pc) ?? { texts: new Set(), tensors: new Set(), count: 0, visit: 0 }
    this.notes.set(pc, noted)
    if (noted.visit !== this.visits) noted.count++
    noted.visit = this.visits
    noted.texts.add(JSON.stringify(use, (_, value: unknown) => (value instanceof Map ? [...value] : value)))
    noted.tensors.add(tensor)
  }

  /** Caches of instructions that do something else where the function is called on another object. */
  inconstant(): Tensor[] {
    const changing = [...this.notes.values()].filter(({ texts, count }) => texts.size > 1 || count !== this.visits)
    return changing.flatMap(({ tensors }) => [...tensors])
  }
}

/** Tensors of four dimensions with memory of their own, which code reads from one attribute and from nowhere else. */
function candidates(functions: readonly LinkedFunction[], root: ScriptObject): Omit<Cache, 'beside'>[] {
  const read = new Set<number>()
  for (const { source } of functions)
    for (let at = 0; at < source.code.length; at += 3) if (source.code[at] === Opcode.GET_ATTR) read.add(source.code[at + 1]!)
  const byStorage = new Map<Storage, Attribute[]>()
  const values: Value[] = functions.flatMap(({ source }) => source.constants)
  for (const object of modulesOf(root))
    for (const [slot, value] of object.slots.entries()) {
      if (value instanceof Tensor) byStorage.set(value.storage, [...(byStorage.get(value.storage) ?? []), { tensor: value, object, slot }])
      else if (!(value instanceof ScriptObject)) values.push(value)
    }
  for (const { storage } of reachable(values.filter((value) => !(value instanceof ScriptObject)))) byStorage.delete(storage)
  return [...byStorage.values()].flatMap((attributes) => {
    const used = attributes.filter(({ slot }) => read.has(slot))
    const [first] = used
    if (
      first === undefined ||
      used.length > 1 ||
      !attributes.every(({ tensor }) => isRows(tensor) && sameShape(tensor.shape, first.tensor.shape))
    )
      return []
    return [{ ...first, others: attributes.filter((attribute) => attribute !== first) }]
  })
}

function isRows({ type, shape, strides, offset }: Tensor): boolean {
  return (
    (type === DType.float32 || isHalf(type)) && shape.length === 4 && offset === 0 && isContiguous(shape, strides) && !shape.includes(0)
  )
}

function goesBack(code: Int32Array): boolean {
  for (let at = 0; at < code.length; at += 3) {
    const [opcode, x] = [code[at]!, code[at + 1]!]
    if (opcode >= Opcode.JF && opcode <= Opcode.LOOP && (opcode === Opcode.LOOP || x <= 0)) return true
  }
  return false
}
