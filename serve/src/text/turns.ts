import type { Input, LanguageModel, Limits, Module, Output, RunOptions } from 'ptlite'

/** Steps of sequences, one after the other in the order in which they are asked for: each that is under way has its turn before any has another. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve()

  /** `onStep` is told that a step begins. */
  constructor(private readonly onStep: () => void) {}

  /** A model whose steps wait for their turn, of which each may take as much as `limits` say. */
  modelOf(module: Module, limits: Limits): LanguageModel {
    return {
      methods: module.methods,
      inputs: module.inputs,
      outputs: module.outputs,
      forms: () => module.forms(),
      parameters: () => module.parameters(),
      call: (method, args) => module.call(method, args, { limits }),
      saveState: () => module.saveState(),
      loadState: (state) => module.loadState(state),
      run: (method, args, options) => this.take(module, method, args, { ...options, limits }),
    }
  }

  private take(module: Module, method: string, args: readonly Input[] | undefined, options: RunOptions): Promise<Output> {
    const turn = this.last.then(() => {
      // nobody waits for it any more
      options.signal?.throwIfAborted()
      this.onStep()
      return module.run(method, args, options)
    })
    this.last = turn.catch(() => undefined)
    return turn
  }
}
