import type { Backend, Operator } from './model/operator.js'

/** What goes into a build. The emitters ask it; selective builds bring their own. */
export interface Selector {
  operator(operator: Operator): boolean
  kernel(name: string): boolean
  /** c10::ScalarType numbers that kernels are built for; null for all. */
  readonly dtypes: ReadonlySet<number> | null
}

export const everything: Selector = { operator: () => true, kernel: () => true, dtypes: null }

export interface BuildOptions {
  /** Backends whose branches exist. Composite and Builtin always do. */
  readonly backends: ReadonlySet<Backend>
  readonly selector: Selector
}

export const DEVICE_BACKENDS = ['CPU', 'QuantizedCPU'] as const

export function backendsFrom(names: readonly string[]): Set<Backend> {
  const backends = new Set<Backend>(['Composite', 'Builtin'])
  for (const name of names) {
    const found = DEVICE_BACKENDS.find((b) => b === name)
    if (found === undefined) throw new Error(`unknown backend '${name}', expected one of ${DEVICE_BACKENDS.join(', ')}`)
    backends.add(found)
  }
  return backends
}
