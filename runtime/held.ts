/**
 * Parts that the runtime can be without. All are there; a selective build puts false in place of those that it is made without, and
 * leaves out the code behind them (selective-build/build/held.ts says what they go by).
 */
export const HOLDS_COMPLEX: boolean = true
export const HOLDS_QUANTIZED: boolean = true
/** Those who watch runs: compiler, profiler, tracing. */
export const HOLDS_OBSERVERS: boolean = true
/** Operators that are registered at run time. */
export const HOLDS_CUSTOM_OPERATORS: boolean = true
/** Instructions that no trace came to. */
export const HOLDS_ALL_INSTRUCTIONS: boolean = true
/** Operators that write into tensors they are given: in place, or `out`. */
export const HOLDS_WRITES: boolean = true
/** Element-wise operators on a tensor and a number. */
export const HOLDS_SCALARS: boolean = true
/** What types are called in a file, for instructions that make or tell apart values by them. */
export const HOLDS_TYPES: boolean = true
/** Arguments of methods that are not tensors. */
export const HOLDS_ARGUMENTS: boolean = true
/** Lists, tuples, dicts and other objects as values of programs, but for the module itself. */
export const HOLDS_CONTAINERS: boolean = true
/** Calls of operators that leave arguments out. */
export const HOLDS_DEFAULTS: boolean = true
/** More than one dtype: promotion and conversion. */
export const HOLDS_MIXED_DTYPES: boolean = true
/** float16 and bfloat16. */
export const HOLDS_HALVES: boolean = true
/** Element-wise steps behind other operators, which only the compiler fuses. */
export const HOLDS_POST_OPS: boolean = true
