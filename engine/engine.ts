import type { ArenaUse, PlanInfo } from '../compiler/index.js'
import type { FunctionArgument } from '../program/code.js'
import type { MissingOperator } from '../program/missing.js'
import type { ModelGraph } from '../program/graph-info.js'
import type { ArgumentInfo } from '../program/signature-info.js'
import type { NamedTuples } from '../program/types.js'
import type { Limits } from '../runtime/limits.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { DTypeName } from '../runtime/tensor/dtype.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import type { ModuleState } from './saved-state.js'
import type { Profiler } from '../interpreter/profile.js'

/** What a method takes after `self`. */
export interface MethodSignature {
  readonly parameters: readonly FunctionArgument[]
  /** NamedTuples that types of the parameters may name. */
  readonly namedTuples: NamedTuples
}

/** What may be different in one call. */
export interface CallSettings {
  readonly profiler?: Profiler | undefined
  readonly limits?: Limits | undefined
  /** Of the first tensor of the result only the last row is wanted. The engine may give all of it. */
  readonly lastRow?: boolean | undefined
}

export interface RunSettings {
  readonly signal?: AbortSignal | undefined
  readonly limits?: Limits | undefined
  readonly lastRow?: boolean | undefined
}

/** What a file that was compiled ahead can do without the model that it was compiled from. */
export interface AheadForms {
  /** Tensors that it keeps between calls, by dotted name. */
  readonly state: ReadonlyMap<string, Tensor>
  readonly calls: readonly {
    readonly method: string
    /** Of a call with `lastRow`. */
    readonly lastRow: boolean
    /** Of the arguments that are tensors; null for others. */
    readonly tensors: readonly ({ readonly dtype: DTypeName; readonly shape: readonly number[] } | null)[]
  }[]
}

/**
 * What runs a model: its program (ProgramEngine), or the plans that were made of it ahead (PlanEngine). Arguments are fitted to a method's signature before.
 * What each member does and throws, Module says, which has them under the same names.
 */
export interface Engine {
  readonly methods: string[]
  readonly operators: string[]
  readonly missing: readonly MissingOperator[]
  readonly bytecodeVersion: number
  readonly operatorVersion: number
  readonly extraFiles: ReadonlyMap<string, Uint8Array>
  readonly inputs: readonly ArgumentInfo[] | null
  readonly outputs: readonly ArgumentInfo[] | null
  /** The same object for the same method, each time. Throws UNKNOWN_METHOD. */
  signature(method: string): MethodSignature
  parameters(): Map<string, Tensor>
  attribute(name: string): Value
  saveState(): ModuleState
  loadState(state: ModuleState): void
  /** Puts the module and its submodules in training mode, or out of it. */
  setTraining(mode: boolean): void
  /** What to say of a model that is in training mode, of the file of this name; null where nothing goes by that. */
  trainingWarning(label: string): string | null
  call(method: string, args: readonly Value[], settings: CallSettings): Value
  run(method: string, args: readonly Value[], settings: RunSettings): Promise<Value>
  compile(method: string, args: readonly Value[]): Promise<void>
  explain(method: string, args: readonly Value[]): string
  graph(method: string, args: readonly Value[], optimized: boolean): ModelGraph
  arena(method: string, args: readonly Value[]): ArenaUse
  plans(): PlanInfo[]
  /** null for a program, which takes any call. */
  forms(): AheadForms | null
  /** Memory of the model itself, which what its calls give may be a view on. */
  storages(): ReadonlySet<Storage>
  dispose(): void
}
