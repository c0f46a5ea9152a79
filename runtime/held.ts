/**
 * What code in many places asks for, where no file can be left out. All is there; a selective build puts false in place of what it is made
 * without, and leaves out the code behind it (selective-build/build/manifest.ts says what that goes by).
 */
export const HOLDS_COMPLEX: boolean = true
/** Those who watch runs: compiler, profiler, tracing. */
export const HOLDS_OBSERVERS: boolean = true
/** Operators that write into tensors they are given: in place, or `out`. */
export const HOLDS_WRITES: boolean = true
/** Lists, tuples, dicts and other objects as values of programs, but for the module itself. */
export const HOLDS_CONTAINERS: boolean = true
/** More than one dtype: promotion and conversion. */
export const HOLDS_MIXED_DTYPES: boolean = true
/** float16 and bfloat16. */
export const HOLDS_HALVES: boolean = true
/** Operators of any name: a program that names one that is missing can be read, and shown with what it lacks. */
export const HOLDS_ALL_OPERATORS: boolean = true
