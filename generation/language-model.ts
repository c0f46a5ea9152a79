import type { ArgumentInfo } from '../program/signature-info.js'
import type { AheadForms } from '../engine/engine.js'
import type { ModuleState } from '../engine/saved-state.js'
import type { Input, Output } from '../src/values/convert.js'

/** What generation needs of a model: every `Module` has it. */
export interface LanguageModel {
  readonly methods: readonly string[]
  readonly inputs: readonly ArgumentInfo[] | null
  readonly outputs: readonly ArgumentInfo[] | null
  /** Of one that was compiled ahead: what it keeps, and the calls that it has plans for. null, or not there, for one that takes any call. */
  forms?(): AheadForms | null
  /** Buffers that keep keys and values are among them, by name. */
  parameters(): ReadonlyMap<string, { readonly shape: readonly number[] }>
  /** Calls a method that says something of the program, such as `get_eos_ids`. */
  call(method: string, args?: readonly Input[]): Output
  /** Calls `forward`, off the event loop. */
  run(method: string, args?: readonly Input[], options?: { readonly signal?: AbortSignal; readonly outputs?: 'last' }): Promise<Output>
  /** A copy of what is in its buffers. */
  saveState(): ModuleState
  /** Puts that back. */
  loadState(state: ModuleState): void
}

/** An encoder and the decoder that attends to what it gives, as models of their own: T5, BART, Whisper. */
export interface EncoderDecoder {
  readonly encoder: LanguageModel
  readonly decoder: LanguageModel
}

/** By what it does: it may be of another copy of the library. */
export function isLanguageModel(value: unknown): value is LanguageModel {
  if (typeof value !== 'object' || value === null) return false
  const { run, call, methods } = value as Partial<LanguageModel>
  return typeof run === 'function' && typeof call === 'function' && Array.isArray(methods)
}
