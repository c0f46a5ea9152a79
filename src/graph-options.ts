import { boolean, checkOptions, reading } from '../runtime/tensor/check-arguments.js'

/** Options of `Module.graph`. */
export interface GraphOptions {
  /** The graph that plans are made from, in place of that of the calls. */
  readonly optimized?: boolean
}

/** Throws INVALID_ARGUMENT for unknown options. */
export function optimizedOf(options: GraphOptions): boolean {
  reading(() => checkOptions(options, { optimized: boolean } satisfies Record<keyof GraphOptions, unknown>, 'graph()'))
  return options.optimized ?? false
}
