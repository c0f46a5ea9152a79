import { type Argument, type FunctionSchema, isOutArgument, isWritten, type SchemaType } from '../schema/model.js'
import type { TypeStyle } from '../types/unboxing.js'
import { defaultKernelName, flatName, identifier, type NativeFunction } from './native-function.js'

/** Modules that hold native functions. */
export type Backend = 'CPU' | 'QuantizedCPU' | 'Composite' | 'Builtin'

/** Their folders under runtime/operators, which are also the names that generated code imports them by. */
export const BACKEND_FOLDERS: ReadonlyMap<Backend, string> = new Map([
  ['CPU', 'cpu'],
  ['QuantizedCPU', 'quantized'],
  ['Composite', 'composite'],
  ['Builtin', 'builtin'],
])

/** One way to serve an operator. */
export interface Branch {
  readonly backend: Backend
  /** Native function in the backend's module. */
  readonly kernel: string
  /** Structured functions take the tensors to write as further arguments: none, `self`, or the `out` arguments. */
  readonly outs: readonly string[]
  readonly structured: boolean
}

/** An argument of the unboxed function; `TensorOptions` stands for four schema arguments. */
export interface Parameter {
  readonly name: string
  /** Position of its first schema argument. */
  readonly position: number
  /** null for the gathered TensorOptions. */
  readonly type: SchemaType | null
}

/** An operator made of another one: a variant that autogen asks for, or that one applied to each element of lists. */
export interface Derivation {
  readonly from: Operator
  readonly kind: 'out' | 'functional' | 'each'
}

/** An operator overload, ready to be emitted. */
export interface Operator {
  readonly qualifiedName: string
  readonly schema: FunctionSchema
  readonly native: NativeFunction
  /** Name of the unboxed function. */
  readonly unboxedName: string
  readonly style: TypeStyle
  readonly parameters: readonly Parameter[]
  readonly branches: readonly Branch[]
  readonly derivation: Derivation | null
  /** PyTorch's tags of its entry, and of the structured one that it delegates to. */
  readonly tags: readonly string[]
}

/**
 * `add_Tensor`; operators outside aten carry their namespace and set the overload off by two underscores
 * (`quantized_add__out`), since names such as `quantized::add_out` exist beside overloads such as `add.out`. aten's own `quantized_max_pool2d` says
 * that it is aten's, beside `quantized::max_pool2d`.
 */
export function unboxedName(schema: FunctionSchema): string {
  if (schema.namespace === null || schema.namespace === 'aten') {
    const name = identifier(flatName(schema).replaceAll('.', '_'))
    return name.startsWith('quantized_') ? `aten_${name}` : name
  }
  return `${schema.namespace}_${schema.name}${schema.overload === '' ? '' : `__${schema.overload}`}`
}

const OPTIONS = ['dtype', 'layout', 'device', 'pin_memory'] as const
const OPTION_TYPES = ['ScalarType', 'Layout', 'Device', 'bool'] as const
export const OPTIONS_PARAMETER = 'options'

/** The arguments of the unboxed function, with keyword-only (dtype, layout, device, pin_memory) gathered into one. */
export function parametersOf(schema: FunctionSchema): Parameter[] {
  const parameters: Parameter[] = []
  for (let i = 0; i < schema.arguments.length; i++) {
    if (isOptionsAt(schema.arguments, i)) {
      parameters.push({ name: OPTIONS_PARAMETER, position: i, type: null })
      i += OPTIONS.length - 1
    } else {
      const argument = schema.arguments[i]!
      parameters.push({ name: identifier(argument.name), position: i, type: argument.type })
    }
  }
  return parameters
}

function isOptionsAt(args: readonly Argument[], at: number): boolean {
  return OPTIONS.every((name, k) => {
    const argument = args[at + k]
    if (argument === undefined || !argument.kwargOnly || argument.name !== name) return false
    const type = argument.type.kind === 'optional' ? argument.type.inner : argument.type
    return type.kind === 'base' && type.name === OPTION_TYPES[k]
  })
}

/** Names of the `out=` arguments. */
export function outNames(schema: FunctionSchema): string[] {
  return schema.arguments.filter(isOutArgument).map((a) => identifier(a.name))
}

/** `add_`, `__iand__`: writes into self. */
export function isInplace(schema: FunctionSchema): boolean {
  const self = schema.arguments[0]
  return self !== undefined && self.name === 'self' && isWritten(self.type) && /^(?:.*[^_]_|__i\w+__)$/.test(schema.name)
}

/** The backend that serves a dispatch key. */
export const BACKEND_OF_KEY: ReadonlyMap<string, Backend> = new Map(
  Object.entries({
    CPU: 'CPU',
    QuantizedCPU: 'QuantizedCPU',
    Builtin: 'Builtin',
    CompositeImplicitAutograd: 'Composite',
    CompositeExplicitAutograd: 'Composite',
    CompositeExplicitAutogradNonFunctional: 'Composite',
  } as const),
)

/** The branches that an entry's own dispatch table gives; without a table it is composite. */
export function ownBranches(native: NativeFunction): Branch[] {
  const outs = native.structured ? outNames(native.schema) : []
  const rows =
    native.ufuncInnerLoop !== null
      ? [...native.dispatch, { key: 'CPU', kernel: `ufunc_${native.schema.name}_CPU` }]
      : native.dispatch.length > 0 || native.structuredDelegate !== null || native.foreach !== null
        ? native.dispatch
        : [{ key: 'CompositeImplicitAutograd', kernel: defaultKernelName(native.schema) }]
  const branches: Branch[] = []
  for (const row of rows) {
    const backend = BACKEND_OF_KEY.get(row.key)
    if (backend === undefined || branches.some((b) => b.backend === backend)) continue
    branches.push({ backend, kernel: identifier(row.kernel.split('::').pop()!), outs, structured: native.structured })
  }
  return branches
}
