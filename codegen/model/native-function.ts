import type { Source } from '../error.js'
import type { Argument, FunctionSchema } from '../schema/model.js'
import type { Fact } from './tags.js'

/** A dispatch row: backend key and the native function that serves it. */
export interface DispatchRow {
  readonly key: string
  readonly kernel: string
}

/** `dim -> int dim, int valid`: an argument that the structured shape rule replaces by others. */
export interface Precomputed {
  readonly replaced: string | null
  readonly by: readonly Argument[]
}

/** One entry of a native_functions.yaml. */
export interface NativeFunction {
  readonly source: Source
  readonly schema: FunctionSchema
  readonly variants: readonly ('function' | 'method')[]
  readonly structured: boolean
  /** Operator name (`add.out`) of the structured entry that implements this one. */
  readonly structuredDelegate: string | null
  readonly structuredInherits: string | null
  readonly precomputed: readonly Precomputed[]
  readonly dispatch: readonly DispatchRow[]
  /** Operator names of the variants to derive from this one. */
  readonly autogen: readonly string[]
  /** Operator name (`add.Tensor`) of what is applied to the elements of the list arguments. */
  readonly foreach: string | null
  /** Numbers that it takes (`Scalar`) may be complex; other operators refuse those. */
  readonly complex: boolean
  readonly deviceCheck: 'NoCheck' | 'ExactSame' | null
  readonly deviceGuard: boolean
  readonly tags: readonly string[]
  /** What PyTorch has no tag for. */
  readonly facts: readonly Fact[]
  readonly pythonModule: string | null
  readonly categoryOverride: string | null
  readonly manualKernelRegistration: boolean
  readonly manualCppBinding: boolean
  readonly useConstRefForMutableTensors: boolean
  readonly cppNoDefaultArgs: readonly string[]
  readonly ufuncInnerLoop: Readonly<Record<string, string>> | null
}

const RESERVED = new Set(
  (
    'break case catch class const continue debugger default delete do else enum export extends false finally for function if import in ' +
    'instanceof new null return super switch this throw true try typeof var void while with yield let static implements interface package ' +
    'private protected public await async eval arguments'
  ).split(' '),
)

/** A JavaScript identifier: reserved words get a trailing underscore. */
export function identifier(name: string): string {
  return RESERVED.has(name) ? `${name}_` : name
}

/** `name` or `name_overload`. */
export function flatName(schema: FunctionSchema): string {
  return schema.overload === '' ? schema.name : `${schema.name}_${schema.overload}`
}

/** The native function an entry without a dispatch table has: `name` or `name_overload`. */
export function defaultKernelName(schema: FunctionSchema): string {
  return identifier(flatName(schema).replaceAll('.', '_'))
}
