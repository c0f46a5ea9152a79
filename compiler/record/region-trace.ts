import type { LinkedFunction, LinkedOperator } from '../../program/linked.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { type Container, type ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import { type NumberSource, TracedNumber } from './region-number.js'
import { formVaries, type PrologueArg, type PrologueStep } from './region-prologue.js'
import { tensorShape } from './signature.js'
import type { StateParts } from './state-signature.js'

/** An operator call that reads a number in a tensor. */
export interface Read {
  readonly fn: LinkedFunction
  readonly pc: number
}

export function valueArg(value: Value): PrologueArg {
  return { kind: 'value', value }
}

/** Follows numbers that may be others in later runs while a region is recorded, and collects the steps of its prologue. */
export class RegionTrace {
  readonly steps: PrologueStep[] = []
  /** Tensors that steps have made, in order. */
  readonly made: Tensor[] = []
  private readonly bound = new Set<string>()
  /** By the number that a step computes: the reads of tensors that it follows from. */
  private readonly readsOf: (readonly Read[])[] = []
  /** Reads of what the recording is bound to. */
  readonly boundReads = new Set<Read>()
  private readonly slots: { readonly object: ScriptObject; readonly slot: number }[] = []

  /** `start`: what the region's state has, which grows while it is recorded. `decides`: called with reads whose numbers have led a call elsewhere. */
  constructor(
    private readonly start: StateParts,
    private readonly decides: (reads: readonly Read[]) => void,
    private readonly followsFloats: boolean,
  ) {}

  get isUsed(): boolean {
    return this.start.ints.length > 0 || this.readsOf.length > 0
  }

  ofStart(index: number): TracedNumber {
    return new TracedNumber(this.start.ints[index]!, { kind: 'int', index })
  }

  /** An attribute whose number was added to the state last is read as one that may be another. */
  replaceSlot(object: ScriptObject, slot: number): void {
    object.slots[slot] = this.ofStart(this.start.ints.length - 1)
    this.slots.push({ object, slot })
  }

  /** The recording serves this value alone. */
  bind({ value, source }: TracedNumber): number | Float {
    const key = `${source.kind} ${source.index}`
    if (!this.bound.has(key)) this.steps.push({ op: null, args: [source], gives: { kind: 'same', value } })
    this.bound.add(key)
    for (const read of this.readsIn([source])) this.boundReads.add(read)
    return value
  }

  /** Binds what is in a container, at any depth, and puts it there. */
  bindAll(container: Container): void {
    replaceIn(container, (number) => this.bind(number), new Set())
  }

  /** An operator on plain values, which has given `result`. What stands for that; null where the recording is bound to it. */
  compute(op: LinkedOperator, args: readonly PrologueArg[], result: Value): TracedNumber | null {
    const reads = this.readsIn(args)
    if (typeof result === 'number' || (this.followsFloats && result instanceof Float)) {
      this.steps.push({ op, args, gives: { kind: 'int' } })
      return this.numberOf(result, reads)
    }
    const missed = reads.length === 0 ? {} : { missed: () => this.decides(reads) }
    this.steps.push({ op, args, gives: { kind: 'same', value: result }, ...missed })
    return null
  }

  /** The condition, which holds, that a number is a place of a tensor. */
  inRange(op: LinkedOperator, args: readonly PrologueArg[]): void {
    this.compute(op, args, true)
    this.steps.push({ ...this.steps.pop()!, isRange: true })
  }

  /** An operator that throws where it should not be given such values. */
  check(op: LinkedOperator, args: readonly PrologueArg[]): void {
    this.steps.push({ op, args, gives: { kind: 'nothing' } })
  }

  /** An operator that has read `value` in a tensor. */
  read(op: LinkedOperator, args: readonly PrologueArg[], value: number, at: Read): TracedNumber {
    this.steps.push({ op, args, reads: true, gives: { kind: 'int' } })
    return this.numberOf(value, [at])
  }

  private numberOf(value: number | Float, reads: readonly Read[]): TracedNumber {
    const source: NumberSource = { kind: 'computed', index: this.readsOf.length }
    this.readsOf.push(reads)
    return new TracedNumber(value, source)
  }

  private readsIn(args: readonly PrologueArg[]): Read[] {
    return [...new Set(args.flatMap((arg) => (arg.kind === 'computed' ? this.readsOf[arg.index]! : [])))]
  }

  /** The tensor that the same step has made before. */
  find(op: LinkedOperator, args: readonly PrologueArg[]): Tensor | null {
    const makers = this.steps.filter(({ gives }) => gives.kind === 'tensor')
    const at = makers.findIndex(
      (step) => step.op?.entry === op.entry && step.args.length === args.length && step.args.every((a, i) => isSameArg(a, args[i]!)),
    )
    // a new tensor each time is one of its own
    const isView = args.some((arg) => arg.kind === 'tensor' || arg.kind === 'made' || (arg.kind === 'value' && arg.value instanceof Tensor))
    return at >= 0 && isView ? this.made[at]! : null
  }

  /** Adds a step that has made a tensor. False where that would have another form for other numbers. */
  makes(op: LinkedOperator, args: readonly PrologueArg[], result: Tensor): boolean {
    if (formVaries(this.steps, op, args, result, this.start)) return false
    this.steps.push({ op, args, gives: { kind: 'tensor', like: tensorShape(result) } })
    this.made.push(result)
    return true
  }

  /** Takes back tensors that are made from here on. */
  mark(): () => void {
    const [steps, made] = [this.steps.length, this.made.length]
    return () => {
      this.steps.length = steps
      this.made.length = made
    }
  }

  /** Puts numbers back in attributes, and in lists at any depth. */
  putBack(lists: readonly Value[][]): void {
    const seen = new Set<object>()
    const slots = this.slots.map(({ object }) => object.slots)
    for (const list of [...slots, ...lists]) replaceIn(list, ({ value }) => value, seen)
  }
}

function isSameArg(a: PrologueArg, b: PrologueArg): boolean {
  if (a.kind === 'value' || b.kind === 'value') return a.kind === b.kind && 'value' in a && 'value' in b && Object.is(a.value, b.value)
  return a.kind === b.kind && a.index === b.index
}

/** Replaces what stands for numbers in a container, and in those that it holds. Attributes of objects are not looked at. */
function replaceIn(container: Container, by: (number: TracedNumber) => number | Float, seen: Set<object>): void {
  const pending = [container]
  while (pending.length > 0) {
    const next = pending.pop()!
    if (seen.has(next)) continue
    seen.add(next)
    for (const inner of replaceNumbers(next, by)) pending.push(inner)
  }
}

/** Returns the containers that it holds. */
function replaceNumbers(container: Container, by: (number: TracedNumber) => number | Float): Container[] {
  const inner: Container[] = []
  const visit = (value: Value, put: (value: number | Float) => void): void => {
    if (value instanceof TracedNumber) put(by(value))
    else if (Array.isArray(value) || value instanceof Tuple || value instanceof Map) inner.push(value)
  }
  if (container instanceof Map) {
    for (const [key, value] of container) visit(value, (number) => container.set(key, number))
    return inner
  }
  const items = container instanceof Tuple ? container.items : container
  for (const [i, value] of items.entries()) visit(value, (number) => (items[i] = number))
  return inner
}
