import type { Outcome, PassOptions, PlanInfo } from '../../compiler/index.js'
import type { ErrorCode } from '../../runtime/error.js'
import type { Limits } from '../../runtime/limits.js'
import type { FunctionCode } from '../../program/code.js'
import type { SentPlan } from './plan-transfer.js'
import type { Encoded, Node } from './nodes.js'

/** What marks the worker's start data as ours. */
export interface WorkerStart {
  readonly ptlite: 'background'
  readonly nativeLibrary: string | undefined
  /** What it makes in native memory goes with this (kernel owner_enter): the main thread uses it for longer than the worker lives. */
  readonly owner: number
  /** One int32: how many of the requests that are answered it has begun. */
  readonly begun: SharedArrayBuffer
}

/** A function without values, defaults among them: constants are sent as nodes. */
export type CodeOnly = Omit<FunctionCode, 'constants' | 'debugHandles'>

export interface LoadRequest {
  readonly kind: 'load'
  readonly module: number
  readonly functions: readonly CodeOnly[]
  readonly constants: readonly (readonly Encoded[])[]
  readonly format: string
  readonly operatorVersion: number
  readonly bytecodeVersion: number
  readonly maxIterations: number | undefined
  readonly passes: PassOptions
  readonly root: Encoded
  readonly nodes: readonly Node[]
}

export interface RunRequest {
  readonly kind: 'run'
  readonly module: number
  /** Qualified name. */
  readonly method: string
  /** With the last row of its result alone: see `withLastRow`. */
  readonly lastRowOf: number | undefined
  /** Module state that changed on the main thread. */
  readonly stateNodes: readonly Node[]
  readonly nodes: readonly Node[]
  readonly args: readonly Encoded[]
  /** One int32 that the main thread sets to give the run up. */
  readonly cancel: SharedArrayBuffer
  /** Another one, in native memory, for kernels. */
  readonly cancelAddress: number
  readonly limits: Limits | undefined
  /** 'compile': interpreted, and compiled too. 'regions': by regions that the worker makes and keeps. */
  readonly how: 'interpret' | 'compile' | 'regions'
  /** The main thread takes the plan of a method in regions, where it is one. */
  readonly wantsPlan: boolean
  /** Of the module, which plans are told apart by. */
  readonly modes: string
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

/** The last one: only what plans consist of is needed from now on. */
export interface RetireRequest {
  readonly kind: 'retire'
}

const MARK = '\u0000'

const MARKS = new RegExp(`${MARK}([^${MARK}]*)${MARK}(\\d+)${MARK}`, 'g')

/** Stands for a place in the model, of which the main thread alone can say more. */
export function placeMark(functionName: string, pc: number): string {
  return `${MARK}${functionName}${MARK}${pc}${MARK}`
}

/** A text with what `describe` says in place of marks. */
export function fillMarks(text: string, describe: (functionName: string, pc: number) => string): string {
  // texts of a model may have such characters, too
  return text.replace(MARKS, (_, functionName: string, pc: string) => describe(functionName, Number(pc)))
}

export type Request = LoadRequest | RunRequest | DoneRequest | DropRequest | UnloadRequest | RetireRequest

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

export type Reply =
  | { readonly kind: 'loaded'; readonly failure: Failure | null }
  /** Of a run after which the two threads may know different things of the module. */
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'warning'; readonly module: number; readonly text: string }
  | {
      readonly kind: 'result'
      readonly failure: Failure | null
      readonly value: Encoded
      readonly stateNodes: readonly Node[]
      readonly nodes: readonly Node[]
      /** Where the call was to be compiled, or has a plan that the main thread wants. */
      readonly outcome: Outcome<SentPlan> | null
      /** Numbers of storages whose contents were packed: pages of theirs that are a file's need not stay. */
      readonly packed: readonly number[]
      /** Of methods in regions, where that has changed. */
      readonly plans: readonly PlanInfo[] | null
    }
