/**
 * What code in many places asks for, where no file can be left out. All is there; a selective build puts false in place of what it is made
 * without, and leaves out the code behind it (selective-build/build/manifest.ts says what that goes by).
 */
/** Those who watch runs: compiler, profiler, tracing. */
export const HOLDS_OBSERVERS: boolean = true
/** Lists, tuples, dicts and other objects as values of programs, but for the module itself. */
export const HOLDS_CONTAINERS: boolean = true
