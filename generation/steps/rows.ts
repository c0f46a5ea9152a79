import { abortion } from '../../runtime/aborted.js'
import { soon } from '../../runtime/platform.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Input } from '../../src/values/convert.js'
import { cat } from '../../src/values/generated/tensor-functions.js'
import { argumentsWith } from '../arguments.js'
import type { LanguageModel } from '../language-model.js'
import { numbers, zerosFor } from '../numbers.js'
import { LogitsBuffer, resultOf } from '../results.js'
import { fixedSize, mostOf, type Slot } from '../roles.js'
import type { Caller } from './caller.js'
import { capacityOf, growingDim } from './growing.js'
import type { Steps } from './steps.js'

/** Sequences that share calls of a model, at most: where more are under way, the others wait for the next call. */
const MAX_ROWS = 64

/**
 * Whether calls of a model can have several sequences in them, of differing length: it takes keys and values of the tokens before, each of which is a row of its own, a mask
 * that says where a row begins, and positions that count from there.
 */
export function takesRows({ slots, around }: Caller): boolean {
  if (around.states !== undefined || around.given.size > 0) return false
  const isFree = ({ info }: Slot, rank: number): boolean =>
    info.shape?.length === rank && mostOf(info.shape[0]) > 1 && fixedSize(info.shape[0]) === null
  const has = (role: Slot['role']): boolean => slots.some((slot) => slot.role === role && isFree(slot, 2))
  const isFit = (slot: Slot): boolean => {
    const { role, info } = slot
    if (role === 'constant') return true
    if (role === 'past') return info.shape !== undefined && isFree(slot, info.shape.length) && growingDim(info) > 0
    return ['tokens', 'mask', 'positions'].includes(role) ? isFree(slot, 2) : info.type.startsWith('Optional')
  }
  return has('tokens') && has('mask') && has('positions') && slots.every(isFit)
}

/** Of a model whose calls can have several sequences in them: those of all that are under way are computed together. */
export class RowSteps implements Steps {
  readonly keeps = true
  readonly capacity: number
  readonly chunk: number
  length = 0
  readonly logits = new LogitsBuffer()
  private readonly batch: Batch

  constructor(private readonly caller: Caller) {
    let batch = batches.get(caller.model)
    if (batch === undefined) batches.set(caller.model, (batch = new Batch(caller)))
    this.batch = batch
    this.batch.rows++
    this.capacity = Math.min(...caller.slots.flatMap(({ role, info }) => (role === 'past' ? [capacityOf(info)] : [])))
    this.chunk = caller.width ?? caller.most
  }

  advance(tokens: readonly number[], rows: number, signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    return this.batch.advance(this, tokens, rows, signal)
  }

  rewind(length: number): void {
    if (length >= this.length) return
    this.batch.cut(this, length)
    this.length = length
  }

  fork(): Promise<Steps> {
    const other = new RowSteps(this.caller)
    this.batch.copy(this, other)
    other.length = this.length
    return Promise.resolve(other)
  }

  dispose(): void {
    this.batch.remove(this)
    this.length = 0
  }
}

const batches = new WeakMap<LanguageModel, Batch>()

interface Step {
  readonly row: RowSteps
  readonly tokens: readonly number[]
  /** Logits that are asked for. */
  readonly count: number
  readonly signal: AbortSignal | undefined
  readonly resolve: (logits: readonly Float32Array[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * The sequences of one model. Keys and values of those that were in the last call lie in one tensor each, a row for each sequence, which ends where the others do and begins behind
 * zeros that its mask hides; a call of the same ones takes them as they lie. Those that are not in a call have theirs by themselves.
 */
class Batch {
  /** Sequences that there are. */
  rows = 0
  private readonly slots: readonly Slot[]
  private readonly pastSlots: readonly Slot[]
  private readonly most: number
  private readonly waiting: Step[] = []
  private isBusy = false
  /** By row of `past`; null where nobody needs it any more. */
  private members: (RowSteps | null)[] = []
  private past: readonly Tensor[] = []
  /** Tokens of each row of it, zeros included. */
  private width = 0
  /** Keys and values of those that are not in it. */
  private readonly own = new WeakMap<RowSteps, readonly Tensor[]>()

  constructor(private readonly caller: Caller) {
    this.slots = caller.slots
    this.pastSlots = this.slots.filter(({ role }) => role === 'past')
    this.most = Math.min(MAX_ROWS, ...this.slots.map(({ role, info }) => (role === 'constant' ? Infinity : mostOf(info.shape?.[0]))))
  }

  advance(row: RowSteps, tokens: readonly number[], count: number, signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ row, tokens, count, signal, resolve, reject })
      this.begin()
    })
  }

  /** Forgets all of a sequence but its first tokens. */
  cut(row: RowSteps, length: number): void {
    const kept = length === 0 ? null : this.copyOf(row, length)
    this.remove(row, false)
    if (kept !== null) this.own.set(row, kept)
  }

  copy(from: RowSteps, to: RowSteps): void {
    if (from.length > 0) this.own.set(to, this.copyOf(from, from.length))
  }

  /** A sequence gives back what it has. `isLast`: it takes no more steps. */
  remove(row: RowSteps, isLast = true): void {
    if (isLast) this.rows--
    for (const t of this.own.get(row) ?? []) t.dispose()
    this.own.delete(row)
    const at = this.members.indexOf(row)
    if (at >= 0) this.members[at] = null
    // a call that is under way reads it
    if (!this.isBusy && this.members.every((member) => member === null)) this.clear()
  }

  private clear(): void {
    for (const t of this.past) t.dispose()
    this.past = []
    this.members = []
    this.width = 0
  }

  private begin(): void {
    if (this.isBusy || this.waiting.length === 0) return
    this.isBusy = true
    const go = (): void => void this.work()
    // others ask for their next step in this turn of the event loop
    if (this.rows > 1) soon(go)
    else go()
  }

  private async work(): Promise<void> {
    const steps = this.take()
    if (steps.length > 0) {
      try {
        await this.run(steps)
      } catch (error) {
        // what one of them has wrong is not the others'
        if (steps.length === 1) steps[0]!.reject(error)
        else
          for (const step of steps)
            try {
              await this.run([step])
            } catch (fault) {
              step.reject(fault)
            }
      }
    }
    this.isBusy = false
    if (this.members.every((member) => member === null)) this.clear()
    this.begin()
  }

  /** The steps of the next call: those that take as many tokens as the first that waits. */
  private take(): Step[] {
    const open: Step[] = []
    for (const step of this.waiting.splice(0)) {
      if (step.signal?.aborted === true) step.reject(abortion(step.signal))
      else open.push(step)
    }
    const width = open[0]?.tokens.length
    const steps = open.filter(({ tokens }) => tokens.length === width).slice(0, this.most)
    this.waiting.push(...open.filter((step) => !steps.includes(step)))
    return steps
  }

  private async run(steps: readonly Step[]): Promise<void> {
    const { caller } = this
    const { members, past, width } = this.arrange(steps.map(({ row }) => row))
    const inOrder = members.map((member) => steps.find(({ row }) => row === member)!)
    const count = inOrder[0]!.tokens.length
    const args = argumentsWith(this.slots, past, (slot) => this.valueOf(slot, inOrder, width))
    const [only] = steps.length === 1 ? steps : []
    const isLast = count > 1 && steps.every((step) => step.count === 1)
    const options = { ...(only?.signal && { signal: only.signal }), ...(isLast && { outputs: 'last' as const }) }
    const { logits, others } = resultOf(await caller.model.run('forward', args, options))
    // those that went meanwhile need theirs no more
    this.members = members.map((member) => (this.members.includes(member) ? member : null))
    const kept = others.slice(0, past.length)
    const storages = new Set(kept.map(({ storage }) => storage))
    for (const t of past) if (!storages.has(t.storage)) t.dispose()
    this.past = kept
    this.width = width + count
    const rows = inOrder.map((step, i) => {
      const own = logits.slice(0, i, i + 1)
      try {
        return step.row.logits.rowsOf(own, count, step.count)
      } finally {
        own.dispose()
      }
    })
    logits.dispose()
    for (const [i, { row, tokens, resolve }] of inOrder.entries()) {
      row.length += tokens.length
      resolve(rows[i]!)
    }
  }

  /** Puts keys and values of these sequences together, and takes those of others out. */
  private arrange(rows: readonly RowSteps[]): {
    readonly members: readonly RowSteps[]
    readonly past: readonly Tensor[]
    readonly width: number
  } {
    const { members } = this
    if (members.length === rows.length && members.every((member) => member !== null && rows.includes(member)))
      return { members: members as RowSteps[], past: this.past, width: this.width }
    const width = Math.max(...rows.map(({ length }) => length))
    const past = this.pastSlots.map((_, i) => {
      const parts = rows.map((row) => this.filledUp(row, i, width))
      return parts.length === 1 ? parts[0]! : cat(parts)
    })
    const before = this.past
    const copies = past.map((t) => (before.some(({ storage }) => storage === t.storage) ? t.clone() : t))
    for (const member of members)
      if (member !== null && member.length > 0 && !rows.includes(member)) this.own.set(member, this.copyOf(member, member.length))
    for (const row of rows) {
      const own = this.own.get(row) ?? []
      for (const t of own) if (!copies.some(({ storage }) => storage === t.storage)) t.dispose()
      this.own.delete(row)
    }
    this.clear()
    this.members = [...rows]
    this.past = copies
    this.width = width
    return { members: rows, past: copies, width }
  }

  /** Keys or values of a sequence, [1, …], behind zeros where others are longer. */
  private filledUp(row: RowSteps, i: number, width: number): Tensor {
    const { info } = this.pastSlots[i]!
    const found = this.viewOf(row, i)
    const missing = width - row.length
    if (found !== null && missing === 0) return found
    const none = zerosFor(oneRow(info), growingDim(info))
    if (missing === 0) return none
    const shape = none.shape.map((size, dim) => (dim === growingDim(info) ? missing : size))
    const zeros = numbers(Array<number>(shape.reduce((a, b) => a * b, 1)).fill(0), shape, info.dtype ?? 'float32')
    return found === null ? zeros : cat([zeros, found], growingDim(info))
  }

  /** Where keys or values of a sequence lie; null where it has none. */
  private viewOf(row: RowSteps, i: number): Tensor | null {
    if (row.length === 0) return null
    const own = this.own.get(row)
    if (own !== undefined) return own[i]!
    const at = this.members.indexOf(row)
    return this.past[i]!.slice(0, at, at + 1).slice(growingDim(this.pastSlots[i]!.info), this.width - row.length, this.width)
  }

  private copyOf(row: RowSteps, length: number): readonly Tensor[] {
    return this.pastSlots.map(({ info }, i) => this.viewOf(row, i)!.slice(growingDim(info), 0, length).clone())
  }

  private valueOf({ role, info }: Slot, steps: readonly Step[], width: number): Input {
    const { dtype = 'int64' } = info
    const count = steps[0]!.tokens.length
    if (role === 'tokens') return numbers(steps.flatMap(({ tokens }) => tokens), [steps.length, count], dtype) // prettier-ignore
    if (role === 'positions') return numbers(steps.flatMap(({ row, tokens }) => tokens.map((_, i) => row.length + i)), [steps.length, count], dtype) // prettier-ignore
    if (role === 'constant') return info.constant as Input
    if (role !== 'mask') return null
    const total = width + count
    const mask = steps.flatMap(({ row }) => Array.from({ length: total }, (_, i) => (i < width - row.length ? 0 : 1)))
    return numbers(mask, [steps.length, total], dtype)
  }
}

/** An argument for one sequence. */
function oneRow(info: Slot['info']): Slot['info'] {
  const [batch, ...others] = info.shape!
  return { ...info, shape: [{ ...batch!, min: 1, max: 1 }, ...others] }
}
