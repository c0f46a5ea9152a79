import type { LoadOptions } from '../index.js'

/** `--eval`, for every command that loads a model to run it. */
export const EVAL_OPTION = { eval: { type: 'boolean', default: false } } as const
export const EVAL_HELP = `      --eval          take the model out of training mode, which many are saved in: no dropout, and batch normalization by running statistics`

export function evalOf(values: { readonly eval: boolean }): Pick<LoadOptions, 'eval'> {
  return values.eval ? { eval: true } : {}
}
