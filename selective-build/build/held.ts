import type { Operator } from '../../codegen/model/operator.js'
import { printType } from '../../codegen/schema/printer.js'
import type * as held from '../../runtime/held.js'
import { PLAIN } from '../../program/generated/plain-opcodes.js'
import { OPCODES } from '../../program/opcodes.js'
import { DType } from '../../runtime/tensor/dtype.js'
import type { Selection } from '../selection/selection.js'

/** Operands of instructions that are types. */
const TYPED: ReadonlySet<string> = new Set(['type', 'types'])

/** Types of results that are no container and in none. */
const SINGLE: ReadonlySet<string> = new Set(['Tensor', 'int', 'float', 'bool', 'Scalar', 'str', 'SymInt'])

export type HeldFlag = keyof typeof held

/** Whether each part of runtime/held.ts is in a build. */
export function heldFlags(selection: Selection, declared: readonly Operator[]): Record<HeldFlag, boolean> {
  const { backends, dtypes, instructions, parts } = selection
  return {
    HOLDS_COMPLEX: parts.has('complex'),
    HOLDS_QUANTIZED: backends.has('QuantizedCPU'),
    HOLDS_OBSERVERS: parts.has('compiler'),
    HOLDS_CUSTOM_OPERATORS: false,
    HOLDS_POST_OPS: parts.has('compiler'),
    HOLDS_ALL_INSTRUCTIONS: instructions === null,
    HOLDS_WRITES: parts.has('writes'),
    HOLDS_SCALARS: parts.has('scalars'),
    HOLDS_TYPES: instructions === null || parts.has('arguments') || OPCODES.some(({ name, x }) => TYPED.has(x) && instructions.has(name)),
    HOLDS_ARGUMENTS: parts.has('arguments'),
    HOLDS_CONTAINERS: parts.has('compiler') || holdsContainers(selection, declared),
    HOLDS_DEFAULTS: parts.has('defaults'),
    HOLDS_MIXED_DTYPES: dtypes === null || dtypes.size > 1,
    HOLDS_HALVES: parts.has('halves') || dtypes === null || dtypes.has(DType.float16) || dtypes.has(DType.bfloat16),
  }
}

/** Whether a program can come by a value that holds others, besides the module. */
function holdsContainers({ operators, instructions, parts }: Selection, declared: readonly Operator[]): boolean {
  if (instructions === null || parts.has('arguments') || ![...instructions].every((name) => PLAIN.has(name))) return true
  const called = declared.filter(({ qualifiedName }) => operators.has(qualifiedName))
  return called.some(({ schema }) => schema.isVarret || schema.returns.some(({ type }) => !SINGLE.has(printType(type, false))))
}
