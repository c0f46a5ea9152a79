import type * as held from '../../runtime/held.js'
import { OPCODES } from '../../runtime/interpreter/opcodes.js'
import { DType } from '../../runtime/tensor/dtype.js'
import type { Selection } from '../selection/selection.js'

/** Operands of instructions that are types. */
const TYPED: ReadonlySet<string> = new Set(['type', 'types'])

export type HeldFlag = keyof typeof held

/** Whether each part of runtime/held.ts is in a build. */
export function heldFlags({ backends, dtypes, instructions, parts }: Selection): Record<HeldFlag, boolean> {
  return {
    HOLDS_COMPLEX: parts.has('complex'),
    HOLDS_QUANTIZED: backends.has('QuantizedCPU'),
    HOLDS_OBSERVERS: false,
    HOLDS_CUSTOM_OPERATORS: false,
    HOLDS_POST_OPS: false,
    HOLDS_ALL_INSTRUCTIONS: instructions === null,
    HOLDS_WRITES: parts.has('writes'),
    HOLDS_SCALARS: parts.has('scalars'),
    HOLDS_TYPES: instructions === null || parts.has('arguments') || OPCODES.some(({ name, x }) => TYPED.has(x) && instructions.has(name)),
    HOLDS_ARGUMENTS: parts.has('arguments'),
    HOLDS_MIXED_DTYPES: dtypes === null || dtypes.size > 1,
    HOLDS_HALVES: parts.has('halves') || dtypes === null || dtypes.has(DType.float16) || dtypes.has(DType.bfloat16),
  }
}
