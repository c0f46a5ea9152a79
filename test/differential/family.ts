import type { Type } from './types.js'

/** Kinds of statements. */
export type StatementKind =
  | 'define'
  | 'assign'
  | 'setAttribute'
  | 'changeContainer'
  | 'writeTensor'
  | 'if'
  | 'for'
  | 'while'
  | 'callObject'
  | 'readAll'
  | 'readNumber'
  | 'view'
  | 'index'
  | 'position'
  | 'convert'
  | 'fail'
  | 'exit'

/** What programs of a kind have more of. */
export interface Family {
  readonly weights: Partial<Record<StatementKind, number>>
  /** Types of attributes, the likelier ones more often. */
  readonly attributes: readonly Type[]
  /** Objects with state in the module. */
  readonly objects: boolean
  /** Lists, dicts and others as arguments, beside the tensor that each method takes. */
  readonly containers: boolean
  /** How often two values are the same, or share memory. */
  readonly aliases: number
  /** How often dtypes other than float32 stand where float32 could. */
  readonly dtypes: number
  /** How often the caller disposes, or writes to, what it has. */
  readonly disposes: number
  readonly writes: number
}
