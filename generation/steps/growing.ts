import { PtliteError } from '../../runtime/error.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Input, Output } from '../../src/values/convert.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import { zerosFor } from '../numbers.js'
import { LogitsBuffer, type StepResult, tensorsIn } from '../results.js'
import { fixedSize, mostOf, type Slot } from '../roles.js'
import type { Caller } from './caller.js'
import type { Steps } from './steps.js'

/** Of a model that takes the keys and values of the tokens before, and gives them with those of the new ones. */
export class GrowingSteps implements Steps {
  readonly keeps = true
  readonly capacity: number
  private readonly logits = new LogitsBuffer()
  private readonly pastSlots: readonly Slot[]

  constructor(
    private readonly caller: Caller,
    private past: readonly Input[] = [],
    public length = 0,
  ) {
    this.pastSlots = caller.slots.filter(({ role }) => role === 'past')
    this.capacity = Math.min(...this.pastSlots.map(({ info }) => capacityOf(info)))
    if (length === 0) this.past = this.pastSlots.map((slot) => this.empty(slot))
  }

  get chunk(): number {
    return this.caller.width ?? this.caller.most
  }

  async advance(tokens: readonly number[], rows: number, signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    const { past, caller } = this
    const result = await caller.call(tokens, this.length, past, rows, signal)
    this.past = this.pastOf(result)
    this.length += tokens.length
    const found = this.logits.rowsOf(result.logits, tokens.length, rows)
    result.logits.dispose()
    drop(past, this.past, caller.around.given)
    return found
  }

  rewind(length: number): void {
    if (length >= this.length) return
    const growing = this.pastSlots.map(({ info }) => growingDim(info))
    const { past } = this
    if (length > 0 && past.every((value, i) => value instanceof Tensor && growing[i]! >= 0)) {
      this.past = past.map((value, i) => (value as Tensor).slice(growing[i], 0, length).clone())
      this.length = length
    } else {
      this.past = this.pastSlots.map((slot) => this.empty(slot))
      this.length = 0
    }
    drop(past, this.past, this.caller.around.given)
  }

  fork(): Promise<Steps> {
    return Promise.resolve(new GrowingSteps(this.caller, this.past.map(copied), this.length))
  }

  dispose(): void {
    drop(this.past, [], this.caller.around.given)
    this.past = []
    this.length = 0
  }

  private pastOf({ others, rest }: StepResult): readonly Input[] {
    if (!this.pastSlots.every(({ info }) => info.type === 'Tensor')) return [rest]
    const count = this.pastSlots.length
    if (others.length < count)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `generate(): the model takes ${count} tensors of keys and values and gives ${others.length} besides logits: it has to return its past_key_values`,
      )
    return others.slice(0, count)
  }

  /** What stands for the past before the first token. */
  private empty({ info, argument }: Slot): Input {
    const given = this.caller.around.given.get(argument)
    if (given !== undefined) return given
    if (info.type.startsWith('Optional')) return null
    if (info.type.startsWith('List')) return []
    if (info.shape === undefined)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `generate(): the file does not say what sizes ${info.name}: ${info.type} has; give what stands for no tokens by its name: { input_ids, ${argument}: … }`,
      )
    return zerosFor(info, growingDim(info))
  }
}

/** The dimension of tokens in keys and values: one whose size is free, behind that of the batch. -1 where there is none. */
export function growingDim({ shape }: ArgumentInfo): number {
  return shape?.findLastIndex((size, i) => i > 0 && fixedSize(size) === null) ?? -1
}

export function capacityOf(info: ArgumentInfo): number {
  const dim = growingDim(info)
  // the last token's keys and values are not taken any more
  return dim < 0 ? Infinity : mostOf(info.shape![dim]) + 1
}

/** Gives back tensors of `old` that are neither in `kept` nor given by the caller. */
function drop(old: readonly Input[], kept: readonly Input[], given: ReadonlyMap<string, Input>): void {
  const storages = new Set(tensorsIn([...kept, ...given.values()] as Output[]).map(({ storage }) => storage))
  for (const t of tensorsIn(old as Output[])) if (!storages.has(t.storage)) t.dispose()
}

function copied(value: Input): Input {
  if (value instanceof Tensor) return value.clone()
  return Array.isArray(value) ? (value as readonly Input[]).map(copied) : value
}
