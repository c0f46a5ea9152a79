import { CodegenError } from './error.js'
import type { Backend, Operator } from './model/operator.js'

/** What goes into a build. The emitters ask it; selective builds bring their own. */
export interface Selector {
  operator(operator: Operator): boolean
  kernel(name: string): boolean
  /** c10::ScalarType numbers that kernels are built for; null for all. */
  readonly dtypes: ReadonlySet<number> | null
  /** Values of an enumeration (`UnaryOp`) that kernels are built for; null for all. */
  values(enumName: string): ReadonlySet<string> | null
}

export const everything: Selector = { operator: () => true, kernel: () => true, dtypes: null, values: () => null }

/** How emitted code reaches the functions it calls. */
export interface CallNames {
  /** Namespace of each backend's native functions. */
  readonly modules: Readonly<Record<Backend, string>>
  /** What stands before the name of an unboxed function with dispatch, and of one that autogen derives. */
  readonly dispatched: string
  readonly derived: string
}

export const libraryNames: CallNames = {
  modules: { CPU: 'cpu', QuantizedCPU: 'quantized', Composite: 'composite', Builtin: 'builtin' },
  dispatched: 'at.',
  derived: 'derived.',
}

export interface BuildOptions {
  /** Backends whose branches exist. Composite and Builtin always do. */
  readonly backends: ReadonlySet<Backend>
  readonly selector: Selector
  readonly names: CallNames
  /** Unboxed functions with dispatch tell traces that they are called. */
  readonly notesCalls?: boolean
  /** Long files come in pieces: by the chunk that operators are in, where these are in the one that is loaded first, and frame writers by the file that declares their kernel. */
  readonly common?: ReadonlySet<string>
}

/** The table of an operator: the one that each program loads, that of the compiler, whose passes alone write such operators, or that of all others. */
export type Table = 'first' | 'compiled' | 'more'
export const TABLES: readonly Table[] = ['first', 'compiled', 'more']

export function tableOf({ qualifiedName, branches }: Operator, { common }: BuildOptions): Table {
  if (common === undefined) return 'first'
  // native functions of quantized tensors are with the others of their kind
  if (qualifiedName.startsWith('ptlite::') && branches.every(({ backend }) => backend === 'CPU')) return 'compiled'
  return common.has(qualifiedName) ? 'first' : 'more'
}

export const DEVICE_BACKENDS = ['CPU', 'QuantizedCPU'] as const

export function backendsFrom(names: readonly string[]): Set<Backend> {
  const backends = new Set<Backend>(['Composite', 'Builtin'])
  for (const name of names) {
    const found = DEVICE_BACKENDS.find((b) => b === name)
    if (found === undefined) throw new CodegenError(`unknown backend '${name}', expected one of ${DEVICE_BACKENDS.join(', ')}`)
    backends.add(found)
  }
  return backends
}
