import { type GenerationSession, type LanguageModel, openSession } from 'ptlite'

interface Slot {
  readonly model: LanguageModel
  session: GenerationSession | null
  /** The slot was given back so many times before this one was. */
  lastUse: number
  isTaken: boolean
}

/** Sessions of sequences. What one has seen stays with it, for a prompt that begins so. */
export class Slots {
  private readonly slots: Slot[]
  private uses = 0

  /** Their number is a multiple of that of the models. */
  constructor(models: readonly LanguageModel[], count: number) {
    this.slots = Array.from({ length: count }, (_, i) => ({ model: models[i % models.length]!, session: null, lastUse: 0, isTaken: false }))
  }

  /** The free one that has seen most of the prompt's beginning, or else the one that has not been used for longest. There is one where no more are asked for than there are. */
  async take(prompt: readonly number[]): Promise<{ readonly session: GenerationSession; readonly giveBack: () => void }> {
    let best: Slot | null = null
    let most = -1
    for (const slot of this.slots) {
      if (slot.isTaken) continue
      const common = slot.session === null ? 0 : commonLength(slot.session.tokens, prompt)
      if (common > most || (common === most && slot.lastUse < best!.lastUse)) {
        best = slot
        most = common
      }
    }
    if (best === null) throw new Error('more sequences than slots')
    const slot: Slot = best
    slot.isTaken = true
    const giveBack = (): void => {
      slot.isTaken = false
      slot.lastUse = ++this.uses
    }
    try {
      return { session: (slot.session ??= await openSession(slot.model)), giveBack }
    } catch (error) {
      giveBack()
      throw error
    }
  }
}

function commonLength(seen: readonly number[], prompt: readonly number[]): number {
  let common = 0
  while (common < seen.length && common < prompt.length && seen[common] === prompt[common]) common++
  return common
}
