import { argumentsOf, type Step } from '../arguments.js'
import type { LanguageModel } from '../language-model.js'
import { resultOf, type StepResult } from '../results.js'
import { fixedSize, mostOf, type Slot } from '../roles.js'
import { PlannedSizes } from './planned-sizes.js'
import type { Input, Output } from '../../src/values/convert.js'
import { Tensor } from '../../runtime/tensor/tensor.js'

/** What stays the same in all calls: the encoder's states, and arguments that the caller gave. */
export interface Around {
  readonly states?: Input
  readonly statesMask?: Input
  readonly given: ReadonlyMap<string, Input>
  /** Is told what a call gave for `count` tokens from `start` on. */
  readonly watch?: (output: Output, start: number, count: number) => void
}

/** Calls `forward` of a language model, off the event loop. */
export class Caller {
  /** The number of tokens that each call takes; null where that is free. */
  readonly width: number | null
  /** The most that a call takes. */
  readonly most: number

  /** Of a model that was compiled ahead. */
  readonly sizes: PlannedSizes | null
  /** What the model gives first is known to have a row for each token. */
  private readonly givesRows: boolean

  constructor(
    readonly model: LanguageModel,
    readonly slots: readonly Slot[],
    readonly around: Around,
  ) {
    const size = slots.find(({ role }) => role === 'tokens')!.info.shape?.at(-1)
    this.sizes = PlannedSizes.of(model, slots)
    this.width = fixedSize(size)
    this.most = mostOf(size)
    this.givesRows = (model.outputs?.[0]?.shape?.length ?? 0) > 1
  }

  /** `rows`: behind how many of the last tokens logits are asked for. */
  async call(
    tokens: readonly number[],
    start: number,
    past: readonly Input[],
    rows: number,
    signal: AbortSignal | undefined,
  ): Promise<StepResult> {
    const step: Step = { tokens, start, width: this.width ?? tokens.length, past, ...this.around }
    const args = argumentsOf(this.slots, step)
    // of a width that is filled up the last token is somewhere before
    const givesLast = this.sizes?.givesLast(tokens.length) ?? (this.givesRows && tokens.length > 1)
    const outputs = givesLast && rows === 1 && step.width === tokens.length ? 'last' : undefined
    const output = await this.model.run('forward', args, { ...(signal && { signal }), ...(outputs && { outputs }) })
    const result = resultOf(output)
    this.around.watch?.(output, start, tokens.length)
    // what was made for this call; what the caller gave, and the past, are others' to dispose of
    const lent = new Set<unknown>([...past, this.around.states, this.around.statesMask, ...this.around.given.values()])
    for (const value of args) if (value instanceof Tensor && !lent.has(value)) value.dispose()
    return result
  }
}
