import type { FunctionGraph } from '../../program/data-flow.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import type { DTypeName } from '../../runtime/tensor/dtype.js'
import type { OperatorUse } from './operators.js'

/** A method of a model file. */
export interface MethodReport {
  readonly name: string
  /** What it takes, after `self`; null where the file does not say. */
  readonly inputs: readonly ArgumentInfo[] | null
  readonly outputs: readonly ArgumentInfo[] | null
  /** How many its code has; null in files of plans. */
  readonly instructions: number | null
}

/** A tensor of a model file. */
export interface ParameterReport {
  /** Dotted attribute name; weights of packed objects carry their place in it (`conv.packed[0]`), constants of code their function's. */
  readonly name: string
  readonly dtype: DTypeName
  readonly shape: readonly number[]
  readonly bytes: number
}

/** A plan of a file that was compiled ahead. */
export interface PlanReport {
  readonly method: string
  /** Shapes and dtypes of the tensors, values of everything else, that it was made for. */
  readonly signature: string
  /** How often it calls each kernel, most frequent first. */
  readonly kernels: Readonly<Record<string, number>>
  readonly arenaBytes: number
  readonly outputBytes: number
}

/** What a file that was compiled ahead says of itself. */
export interface CompiledReport {
  /** Version of the library, and ISA level, that it was compiled for. */
  readonly library: string
  readonly level: string
  /** Why its plans cannot be used here; null where they can. */
  readonly unusable: string | null
  /** Name of the model that it was compiled from. */
  readonly original: string
  readonly plans: readonly PlanReport[]
}

/** What a model file holds: plain data, which can be stored or posted to another thread. */
export interface ModelReport {
  /** The end of names of such files: `.ptl`. */
  readonly format: string
  readonly container: string
  readonly bytes: number
  readonly bytecodeVersion: number
  readonly operatorVersion: number
  /** Class of the root module; null in files of plans. */
  readonly className: string | null
  readonly methods: readonly MethodReport[]
  readonly operators: readonly OperatorUse[]
  /** Operators that this build lacks, without which the file cannot be loaded. */
  readonly missing: readonly string[]
  readonly parameters: readonly ParameterReport[]
  readonly parameterBytes: number
  readonly extraFiles: readonly { readonly name: string; readonly bytes: number }[]
  /** What functions of the file compute from what; none in files of plans. */
  readonly graphs: readonly FunctionGraph[]
  /** Of files that were compiled ahead; null for all others. */
  readonly compiled: CompiledReport | null
}
