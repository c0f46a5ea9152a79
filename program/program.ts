import type { FunctionCode } from './code.js'
import type { LayoutInfo } from './layout-info.js'
import type { ReaderPart } from './reader-parts.js'
import type { ArgumentInfo } from './signature-info.js'
import type { ScriptObject, Value } from '../runtime/tensor/value.js'

/** The first bytecode version whose files say how many arguments calls of operators give. */
export const FIRST_WITH_COUNTS = 6

/** Where instructions came from, for files saved with debug information. */
export interface DebugInfo {
  /**
   * TorchScript's stack trace of instruction `pc` of function `functionName` (qualified): one `File "...", line n, in f`
   * block per inlined call, outermost first, with the source line marked: the innermost `most` of them, where that matters. undefined where the file does
   * not say.
   */
  stackTraceAt(functionName: string, pc: number, most?: number): string | undefined
}

/** What a method takes and gives, value by value. */
export interface MethodSignature {
  readonly inputs: readonly ArgumentInfo[]
  readonly outputs: readonly ArgumentInfo[]
}

/** What every reader makes of a file, whatever its format. Nothing in it has run, but `__setstate__` of its objects. */
export interface Program {
  /** Name of the format that it was read from (formats/registry.ts). */
  readonly format: string
  /** The version of the bytecode that says what the functions' instructions mean: that of the file, where it has bytecode. */
  readonly bytecodeVersion: number
  /** The version of the operators' meanings that upgraders go by. */
  readonly operatorVersion: number
  readonly functions: readonly FunctionCode[]
  /** The root module. All tensors below it and in the functions' constants are pinned. */
  readonly root: ScriptObject
  /** By name without `extra/`. */
  readonly extraFiles: ReadonlyMap<string, Uint8Array>
  readonly debug?: DebugInfo | undefined
  /** Of files whose code reading compiles: the operators that this looked up, and whether it called them. */
  readonly lookedUp?: ReadonlyMap<string, boolean> | undefined
  /** Parts of the reader that the file needs and builds can be without. */
  readonly parts?: ReadonlySet<ReaderPart> | undefined
  /** Classes of objects that are no modules, of files that tell them apart. */
  readonly plainClasses?: ReadonlySet<string> | undefined
  /** What the program takes and gives, value by value, where the file says so. */
  readonly inputs?: readonly ArgumentInfo[] | undefined
  readonly outputs?: readonly ArgumentInfo[] | undefined
  /** The same of all methods, where the file has several. */
  readonly signatures?: ReadonlyMap<string, MethodSignature> | undefined
  /** Of files that say how they lay the program out. */
  readonly layout?: LayoutInfo | undefined
  /** Throws INVALID_FILE where a file that is mapped was written to since it was loaded. Cheap: it looks once in a second. */
  checkUnchanged?(): void
  /** Gives up the file's tensors. Memory that other tensors still view goes when the last of them does. */
  close(): void
}

/** What a file needs from whoever runs its functions. */
export interface LoadHooks {
  /** Called once with all functions, before any of them runs. */
  readonly onFunctions?: (functions: readonly FunctionCode[], operatorVersion: number) => void
  /**
   * Fills `object`, which has no slots yet, by running its class's `__setstate__` on `state`. Without it such objects
   * stay empty, which is enough to look at a file. There are so many milliseconds left for it.
   */
  readonly runSetState?: (setState: FunctionCode, object: ScriptObject, state: Value, milliseconds: number) => void
}
