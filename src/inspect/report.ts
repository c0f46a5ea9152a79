import type { FunctionGraph } from '../../program/data-flow.js'
import type { LayoutInfo } from '../../program/layout-info.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import type { TrainingLayer } from '../../program/training-layers.js'
import type { DTypeName } from '../../runtime/tensor/dtype.js'
import type { OperatorUse } from './operators.js'

/** A method of a model file. */
export interface MethodReport {
  /** Without its class: `forward`. */
  readonly name: string
  /** What it takes, after `self`; null where the file does not say. */
  readonly inputs: readonly ArgumentInfo[] | null
  /** What it gives; null where the file does not say. */
  readonly outputs: readonly ArgumentInfo[] | null
  /** How many its code has; null in files of plans. */
  readonly instructions: number | null
}

/** A tensor of a model file. */
export interface ParameterReport {
  /** Dotted attribute name; weights of packed objects carry their place in it (`conv.packed[0]`), constants of code their function's. */
  readonly name: string
  /** Of its elements. */
  readonly dtype: DTypeName
  /** Its sizes. */
  readonly shape: readonly number[]
  /** Of its elements, all of them. */
  readonly bytes: number
}

/** A plan of a file that was compiled ahead. */
export interface PlanReport {
  /** What it is a plan of. */
  readonly method: string
  /** Shapes and dtypes of the tensors, values of everything else, that it was made for. */
  readonly signature: string
  /** How often it calls each kernel, most frequent first. */
  readonly kernels: Readonly<Record<string, number>>
  /** Memory for intermediate results. */
  readonly arenaBytes: number
  /** Memory for results. */
  readonly outputBytes: number
}

/** What a file that was compiled ahead says of itself. */
export interface CompiledReport {
  /** Version of the library that compiled it. */
  readonly library: string
  /** ISA level that it was compiled for. */
  readonly level: string
  /** Why its plans cannot be used here; null where they can. */
  readonly unusable: string | null
  /** Name of the model that it was compiled from. */
  readonly original: string
  /** One for each form of arguments. */
  readonly plans: readonly PlanReport[]
}

/** What a model file holds: plain data, which can be stored or posted to another thread. */
export interface ModelReport {
  /** The end of names of such files: `.ptl`. */
  readonly format: string
  /** What such files are made of: `zip`. */
  readonly container: string
  /** Of the file. */
  readonly bytes: number
  /** Of the instructions of its code. */
  readonly bytecodeVersion: number
  /** Of the meanings of its operators, which upgraders go by. */
  readonly operatorVersion: number
  /** Class of the root module; null in files of plans. */
  readonly className: string | null
  /** Those of the root module. */
  readonly methods: readonly MethodReport[]
  /** What the code calls, sorted. */
  readonly operators: readonly OperatorUse[]
  /** Operators that this build lacks: `operators` has the methods that need them. */
  readonly missing: readonly string[]
  /** Submodules that are in training mode and go by it, such as dropout; empty for a model that is to be used as it is. */
  readonly training: readonly TrainingLayer[]
  /** All tensors of the file, in its order. */
  readonly parameters: readonly ParameterReport[]
  /** Of all parameters; in files of plans of their constants. */
  readonly parameterBytes: number
  /** What the exporter put beside the model. */
  readonly extraFiles: readonly { readonly name: string; readonly bytes: number }[]
  /** What functions of the file compute from what; none in files of plans. */
  readonly graphs: readonly FunctionGraph[]
  /** Of files whose exporter has planned memory and given parts to backends (`.pte`); null for all others. */
  readonly layout: LayoutInfo | null
  /** Of files that were compiled ahead; null for all others. */
  readonly compiled: CompiledReport | null
}
