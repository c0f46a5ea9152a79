import type { Outcome, PassOptions } from '../../compiler/index.js'
import type { ErrorCode } from '../../runtime/error.js'
import type { FunctionCode } from '../../runtime/interpreter/code.js'
import type { SentPlan } from './deliver.js'
import type { Encoded, Node } from './nodes.js'

/** What marks the worker's start data as ours. */
export interface WorkerStart {
  readonly ptlite: 'background'
  readonly nativeLibrary: string | undefined
}

/** A function without values, defaults among them: constants are sent as nodes. */
export type CodeOnly = Omit<FunctionCode, 'constants' | 'debugHandles'>

export interface LoadRequest {
  readonly kind: 'load'
  readonly module: number
  readonly functions: readonly CodeOnly[]
  readonly constants: readonly (readonly Encoded[])[]
  readonly operatorVersion: number
  readonly bytecodeVersion: number
  readonly maxIterations: number | undefined
  readonly root: Encoded
  readonly nodes: readonly Node[]
}

export interface RunRequest {
  readonly kind: 'run'
  readonly module: number
  /** Qualified name. */
  readonly method: string
  /** Module state that changed on the main thread. */
  readonly stateNodes: readonly Node[]
  readonly nodes: readonly Node[]
  readonly args: readonly Encoded[]
  /** One int32 that the main thread sets to give the run up. */
  readonly cancel: SharedArrayBuffer
  /** The call is to be compiled too. */
  readonly compile: PassOptions | null
}

/** The main thread has what the last run made: the worker's memory can go. */
export interface DoneRequest {
  readonly kind: 'done'
  readonly module: number
  /** Where memory of new attributes is now, by number. */
  readonly moved: readonly (readonly [number, number])[]
}

export interface UnloadRequest {
  readonly kind: 'unload'
  readonly module: number
}

/** Nothing uses a plan any more. */
export interface DropRequest {
  readonly kind: 'drop'
  readonly module: number
  readonly plan: number
}

export type Request = LoadRequest | RunRequest | DoneRequest | DropRequest | UnloadRequest

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

export type Reply =
  | { readonly kind: 'loaded'; readonly failure: Failure | null }
  | { readonly kind: 'warning'; readonly module: number; readonly text: string }
  | {
      readonly kind: 'result'
      readonly failure: Failure | null
      readonly value: Encoded
      readonly stateNodes: readonly Node[]
      readonly nodes: readonly Node[]
      /** Where the call was to be compiled. */
      readonly outcome: Outcome<SentPlan> | null
    }
