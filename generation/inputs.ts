import type { ArgumentInfo, Dimension } from '../program/signature-info.js'
import type { LanguageModel } from './language-model.js'

/** What `forward` takes: of a model that was compiled ahead with the dtypes and sizes that its plans are for, where it does not say. null where the file says nothing. */
export function inputsOf(model: LanguageModel): readonly ArgumentInfo[] | null {
  const { inputs } = model
  const calls = model.forms?.()?.calls.filter(({ method }) => method === 'forward') ?? []
  if (inputs === null || calls.length === 0 || inputs.some(({ shape }) => shape !== undefined)) return inputs
  return inputs.map((info, i): ArgumentInfo => {
    const tensors = calls.flatMap((call) => call.tensors[i] ?? [])
    const [first] = tensors
    if (first === undefined || tensors.length < calls.length || tensors.some(({ shape }) => shape.length !== first.shape.length))
      return info
    const shape = first.shape.map((_, dim): Dimension => {
      const sizes = tensors.map((tensor) => tensor.shape[dim]!)
      const [min, max] = [Math.min(...sizes), Math.max(...sizes)]
      return { text: min === max ? `${min}` : `${min} to ${max}`, min, max }
    })
    return { ...info, dtype: first.dtype, shape }
  })
}
