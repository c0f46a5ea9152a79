import { MAX_LEVELS } from '../../runtime/tensor/paths.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import {
  type Container,
  CustomObject,
  Device,
  type DictKey,
  isContainer,
  ScriptObject,
  Tuple,
  type Value,
} from '../../runtime/tensor/value.js'
import { fitsTensor, tensorShape, type TensorShape } from './signature.js'
import { tensorText } from './signature.js'

/** Values in a state beyond which it is not worth while to compare them one by one. */
const MAX_LEAVES = 4096

/** What has to be the same in two states of a run for one recording to serve both. */
type Part =
  /** None, bool, int, string; objects of the module and tensors that belong to it. */
  | { readonly kind: 'same'; readonly value: Value }
  /** Any int. */
  | { readonly kind: 'int' }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'device'; readonly text: string }
  /**
   * `again`: the earlier tensor that it is, or -1; `memory`: the first tensor with the same storage; `fixed`: one that the module reads by
   * another name, too, and that it has to be.
   */
  | { readonly kind: 'tensor'; readonly like: TensorShape; readonly again: number; readonly memory: number; readonly fixed: Tensor | null }
  | {
      readonly kind: 'container'
      readonly of: 'list' | 'tuple' | 'dict'
      readonly keys: readonly DictKey[]
      readonly items: readonly Part[]
    }
  /** A container that came before. */
  | { readonly kind: 'again'; readonly index: number }

/** What a state holds that differs from run to run, in the order of a walk through it. */
export interface StateParts {
  /** Each as often as it occurs. */
  readonly tensors: Tensor[]
  /** Lists, tuples and dicts, each once. */
  readonly containers: Container[]
  /** Those that may be others each time; floats only where nothing runs what is recorded. */
  readonly ints: (number | Float)[]
  /** What the prologue of a region has computed of them, and the tensors that it has made. */
  readonly computed: (number | Float)[]
  readonly made: Tensor[]
}

function noParts(): StateParts {
  return { tensors: [], containers: [], ints: [], computed: [], made: [] }
}

/** Tensor number `index` of a state and of what a prologue has made, which follow each other. */
export function tensorAt({ tensors, made }: StateParts, index: number): Tensor {
  return tensors[index] ?? made[index - tensors.length]!
}

/** What of a module is the same in each run. */
export interface KnownParts {
  /** Objects, and tensors whose memory no state shares. */
  belongs(value: Tensor | ScriptObject | CustomObject): boolean
  /** Tensors that are constants or attributes, although state may share their memory. */
  isFixed(tensor: Tensor): boolean
}

/** Describes values as they are met. */
export class StateDescription {
  private readonly parts: Part[] = []
  readonly found = noParts()
  /** Some tensor has to be the very one that it is: the module has it too. */
  bindsTensors = false
  private left = MAX_LEAVES
  private levels = 0

  constructor(private readonly known: KnownParts) {}

  /**
   * False for what has no signature: objects that a run made, complex numbers, tensors as keys, and values that are too many or nested too deep. An int that `varies`
   * fits any other; a float fits none.
   */
  add(value: Value, varies = false): boolean {
    const { tensors, containers } = this.found
    const before = [tensors.length, containers.length] as const
    const part = varies && (typeof value === 'number' || value instanceof Float) ? this.describeInt(value) : this.describe(value)
    if (part !== null) this.parts.push(part)
    // what was found on the way to something without a signature is not part of the state
    else [tensors.length, containers.length] = before
    return part !== null
  }

  private describeInt(value: number | Float): Part {
    this.found.ints.push(value)
    return { kind: 'int' }
  }

  finish(): StateSignature {
    return new StateSignature(this.parts)
  }

  private describe(value: Value): Part | null {
    if (--this.left < 0) return null
    if (value === null || typeof value !== 'object') return { kind: 'same', value }
    const { tensors, containers } = this.found
    if (value instanceof Tensor) {
      const fixed = this.known.isFixed(value) ? value : null
      const belongs = this.known.belongs(value)
      if (belongs || fixed !== null) this.bindsTensors = true
      if (belongs) return { kind: 'same', value }
      if (value.isSparse) return null
      const again = tensors.indexOf(value)
      const memory = tensors.findIndex((t) => t.storage === value.storage)
      tensors.push(value)
      return { kind: 'tensor', like: tensorShape(value), again, memory: memory < 0 ? tensors.length - 1 : memory, fixed }
    }
    if (value instanceof Float) return { kind: 'float', value: value.value }
    if (value instanceof Device) return { kind: 'device', text: value.toString() }
    if (value instanceof ScriptObject || value instanceof CustomObject) return this.known.belongs(value) ? { kind: 'same', value } : null
    if (value instanceof Complex) return null
    const index = containers.indexOf(value)
    if (index >= 0) return { kind: 'again', index }
    containers.push(value)
    const keys = keysOf(value)
    if (keys.some((key) => typeof key === 'object')) return null
    const items: Part[] = []
    if (this.levels === MAX_LEVELS) return null
    this.levels++
    for (const item of itemsOf(value)) {
      const part = this.describe(item)
      if (part === null) return null
      items.push(part)
    }
    this.levels--
    return { kind: 'container', of: kindOf(value), keys, items }
  }
}

/** The form of the values that are alive somewhere inside of a run. */
export class StateSignature {
  constructor(private readonly parts: readonly Part[]) {}

  /** What differs in values of this form; null for others. */
  match(values: readonly Value[]): StateParts | null {
    const { parts } = this
    if (values.length !== parts.length) return null
    const found = noParts()
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      // most registers are empty
      if (part.kind === 'same' ? part.value !== values[i] : !fits(values[i]!, part, found)) return null
    }
    return found
  }

  /** Places of the ints in which values differ from this form; null where they differ in anything else, or in nothing. */
  differingInts(values: readonly Value[]): number[] | null {
    const { parts } = this
    if (values.length !== parts.length) return null
    const places: number[] = []
    const alike = values.map((value, i) => {
      const part = parts[i]!
      if (part.kind !== 'same' || typeof part.value !== 'number' || typeof value !== 'number' || part.value === value) return value
      places.push(i)
      return part.value
    })
    return places.length > 0 && this.match(alike) !== null ? places : null
  }

  /** For people: what is neither the same each time nor empty. */
  toString(): string {
    return this.parts.flatMap((part) => (part.kind === 'same' && isHidden(part.value) ? [] : [partText(part)])).join(', ')
  }
}

function isHidden(value: Value): boolean {
  return value === null || typeof value === 'object'
}

export function kindOf(value: Container): 'list' | 'tuple' | 'dict' {
  return value instanceof Map ? 'dict' : value instanceof Tuple ? 'tuple' : 'list'
}

export function keysOf(value: Container): DictKey[] {
  return value instanceof Map ? [...value.keys()] : []
}

/** The values in a container. */
export function itemsOf(value: Container): readonly Value[] {
  return value instanceof Map ? [...value.values()] : value instanceof Tuple ? value.items : value
}

/** Tensors and containers in a value, itself included; what objects hold is theirs. */
export function insideOf(value: Value): Set<Value> {
  const found = new Set<Value>()
  const pending = [value]
  while (pending.length > 0) {
    const v = pending.pop()!
    if (found.has(v) || !(v instanceof Tensor || isContainer(v))) continue
    found.add(v)
    if (!(v instanceof Tensor)) for (const item of itemsOf(v)) pending.push(item)
  }
  return found
}

function fits(value: Value, part: Part, found: StateParts): boolean {
  switch (part.kind) {
    case 'same':
      return value === part.value
    case 'int':
      if (typeof value !== 'number') return false
      found.ints.push(value)
      return true
    case 'float':
      return value instanceof Float && Object.is(value.value, part.value)
    case 'device':
      return value instanceof Device && value.toString() === part.text
    case 'tensor':
      return value instanceof Tensor && !value.isSparse && fitsPlace(value, part, found.tensors)
    case 'again':
      return value === found.containers[part.index]
    case 'container': {
      if (!isContainer(value) || kindOf(value) !== part.of) return false
      if (found.containers.includes(value)) return false
      found.containers.push(value)
      if (value instanceof Map && !(value.size === part.keys.length && [...value.keys()].every((key, i) => key === part.keys[i])))
        return false
      const items = itemsOf(value)
      return items.length === part.items.length && items.every((item, i) => fits(item, part.items[i]!, found))
    }
  }
}

function fitsPlace(t: Tensor, { like, again, memory, fixed }: Part & { readonly kind: 'tensor' }, tensors: Tensor[]): boolean {
  if (fixed !== null && fixed !== t) return false
  if (!fitsTensor(t, like)) return false
  if (again >= 0) {
    if (tensors[again] !== t) return false
  } else if (tensors.includes(t)) return false
  const { storage } = t
  for (let i = 0; i < tensors.length; i++) {
    if (tensors[i]!.storage !== storage) continue
    if (i !== memory) return false
    break
  }
  if (memory < tensors.length && tensors[memory]!.storage !== storage) return false
  tensors.push(t)
  return true
}

function partText(part: Part): string {
  switch (part.kind) {
    case 'same':
      return typeof part.value === 'string'
        ? JSON.stringify(part.value)
        : typeof part.value === 'object'
          ? 'of the module'
          : String(part.value)
    case 'int':
      return 'int'
    case 'float':
      return Number.isInteger(part.value) ? `${part.value}.` : String(part.value)
    case 'device':
      return part.text
    case 'tensor':
      return `${tensorText(part.like)}${part.again < 0 ? '' : ` (tensor ${part.again + 1} again)`}`
    case 'again':
      return 'the same again'
    case 'container': {
      const items = part.items.map(partText)
      if (part.of === 'list') return `[${items.join(', ')}]`
      if (part.of === 'tuple') return `(${items.join(', ')})`
      return `{${items.map((item, i) => `${JSON.stringify(String(part.keys[i]))}: ${item}`).join(', ')}}`
    }
  }
}
