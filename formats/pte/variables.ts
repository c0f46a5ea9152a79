import { isSameForm } from './form.js'
import { elementCount, type Instruction, type Plan, type PlanValue, type TensorValue } from './plan.js'

/** What a call does with values of the plan, by their numbers. */
export interface Effects {
  readonly reads: readonly number[]
  readonly writes: readonly number[]
  /** Tensors that it writes to in part, or whose memory others see. */
  readonly updates?: readonly number[]
  /** Results that share memory with an argument. */
  readonly aliases?: readonly (readonly [from: number, to: number])[]
}

/** The values of a plan, as effects see them. */
export interface Values {
  /** The values that a value is made of: the items of a list, or itself. */
  items(index: number): readonly number[]
  isTensor(index: number): boolean
  isNone(index: number): boolean
  /** Both are of one form, and none is dynamic. */
  isAlike(a: number, b: number): boolean
  /** It has memory of its own. */
  isPlaced(index: number): boolean
}

/**
 * The variables of a method. Tensors are told apart by where a plan puts them: values at one place in memory are one variable, since the plan leaves out views that
 * change nothing but sizes, and reads what was written as one value as another. Values that moves and views bind anew, or that have no place, are variables by themselves, as are
 * numbers that the program computes. A constant is none.
 */
export class Variables implements Values {
  private readonly keys: readonly (string | null)[]
  private readonly forms = new Map<string, number>()
  private readonly canonical: readonly number[]
  /** Values that instructions write. */
  private readonly written = new Set<number>()

  constructor(private readonly plan: Plan) {
    const bound = new Set(plan.instructions.flatMap(boundBy))
    this.keys = plan.values.map((value, i) => (value.kind === 'tensor' ? placeKey(value, i, bound.has(i)) : null))
    this.canonical = plan.values.map((value, i) => (value.kind === 'tensor' ? this.formOf(value, i) : i))
  }

  private formOf({ scalarType, sizes, dimOrder, isDynamic }: TensorValue, index: number): number {
    const text = `${scalarType} ${sizes.join()} ${dimOrder.join()} ${isDynamic}`
    const known = this.forms.get(text)
    if (known === undefined) this.forms.set(text, index)
    return known ?? index
  }

  value(index: number): PlanValue {
    return this.plan.values[index]!
  }

  tensor(index: number): TensorValue {
    return this.plan.values[index] as TensorValue
  }

  /** The first value of the same form. */
  likeOf(index: number): number {
    return this.canonical[index]!
  }

  /** What an instruction, or the caller, gives a value. */
  markWritten(indices: Iterable<number>): void {
    for (const index of indices) this.written.add(index)
  }

  /** null for constants. */
  keyOf(index: number): string | null {
    const value = this.value(index)
    if (value.kind === 'tensor') return this.keys[index]!
    return this.written.has(index) && value.kind !== 'ints' && value.kind !== 'tensors' ? `v${index}` : null
  }

  keysOf(indices: readonly number[]): string[] {
    const keys = new Set<string>()
    for (const index of indices)
      for (const item of this.items(index)) {
        const key = this.keyOf(item)
        if (key !== null) keys.add(key)
      }
    return [...keys]
  }

  items(index: number): readonly number[] {
    const value = this.value(index)
    if (value.kind === 'ints') return value.items
    return value.kind === 'tensors' ? value.items.filter((item) => item !== null) : [index]
  }

  isTensor(index: number): boolean {
    return this.value(index).kind === 'tensor'
  }

  isNone(index: number): boolean {
    return this.value(index).kind === 'none'
  }

  isPlaced(index: number): boolean {
    const value = this.value(index)
    return value.kind === 'tensor' && value.place !== null && this.keys[index]?.startsWith('m') === true
  }

  isAlike(a: number, b: number): boolean {
    const [one, other] = [this.value(a), this.value(b)]
    return one.kind === 'tensor' && other.kind === 'tensor' && !one.isDynamic && !other.isDynamic && isSameForm(one, other)
  }
}

/** Values that an instruction binds to the memory of another one, whatever place they have. */
function boundBy(item: Instruction): readonly number[] {
  if (item.kind === 'move') return [item.to]
  const view = item.kind === 'kernel' && item.operator === 'executorch_prim::et_view.default' ? item.args[2] : undefined
  return view === undefined ? [] : [view]
}

function placeKey(value: TensorValue, index: number, isBound: boolean): string | null {
  const { data, place, name, sizes } = value
  if (isBound) return `v${index}`
  if (place === null) return data !== null ? null : name !== '' ? `n${name}` : `v${index}`
  // what has no elements shares its place with others
  return elementCount(sizes) === 0 ? `e${index}` : `m${place.memory}:${place.offset}`
}

/** All that a call comes to, by keys of variables. */
export function updatedKeys(effects: Effects, variables: Variables): string[] {
  return variables.keysOf(effects.updates ?? [])
}
