import { PtliteError } from '../runtime/error.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Output } from '../src/values/convert.js'

/** What a call of a language model gave. */
export interface StepResult {
  /** [batch, tokens, vocabulary], or without the first ones. */
  readonly logits: Tensor
  /** Tensors behind them, in their order. */
  readonly others: readonly Tensor[]
  /** The value behind them, as it is, where there is one. */
  readonly rest: Output
}

/** By the names that transformers gives its results, else by their order: logits come first. Throws INVALID_ARGUMENT where there are none. */
export function resultOf(output: Output): StepResult {
  const isDict = output instanceof Map
  const parts: readonly Output[] = isDict ? [...output.values()] : Array.isArray(output) ? output : [output]
  const named = isDict ? output.get('logits') : undefined
  const logits = named instanceof Tensor ? named : tensorsIn(parts)[0]
  if (logits === undefined || !logits.dtype.includes('float') || logits.dim === 0)
    throw new PtliteError('INVALID_ARGUMENT', `generate(): expected a model that gives logits, found ${kindOf(output)}`)
  const past = isDict ? (output.get('past_key_values') ?? output.get('present') ?? null) : (parts[1] ?? null)
  return { logits, others: tensorsIn(isDict && past !== null ? [past] : parts).filter((t) => t !== logits), rest: past }
}

/** All tensors in values, at any depth. */
export function tensorsIn(values: readonly Output[], found: Tensor[] = []): Tensor[] {
  for (const value of values) {
    if (value instanceof Tensor) found.push(value)
    else if (Array.isArray(value)) tensorsIn(value, found)
    else if (value instanceof Map) tensorsIn([...value.values()], found)
  }
  return found
}

/** Memory of one sequence: logits behind its tokens are read into it call after call, since arrays as large as a vocabulary keep the garbage collector busy. */
export class LogitsBuffer {
  private values = new Float32Array(0)

  /** The logits behind the last `count` of `tokens` tokens, each float32[vocabulary]; they hold until the next call. Throws INVALID_ARGUMENT where the model gives fewer. */
  rowsOf(logits: Tensor, tokens: number, count: number): readonly Float32Array[] {
    const vocabulary = logits.shape.at(-1)!
    const rows = logits.dim > 1 ? logits.shape.at(-2)! : 1
    // models may give the last row alone
    const end = rows === 1 ? 1 : tokens
    if (end < count || end > rows)
      throw new PtliteError('INVALID_ARGUMENT', `generate(): expected logits for each of ${tokens} tokens, found ${rows} rows of them`)
    const flat = logits.reshape([-1, vocabulary])
    const last = flat.slice(0, end - count, end)
    if (this.values.length !== count * vocabulary) this.values = new Float32Array(count * vocabulary)
    const { values } = this
    if (last.dtype === 'float32' && last.isContiguous) last.storage.read(last.offset * last.itemSize, values)
    else {
      const wide = last.to('float32')
      values.set(wide.data())
      wide.dispose()
    }
    // the memory of logits goes back with the last view of it
    for (const view of [last, flat]) view.dispose()
    return Array.from({ length: count }, (_, row) => values.subarray(row * vocabulary, (row + 1) * vocabulary))
  }
}
