import type { KernelAbi } from '../../codegen/kernel-abi/model.js'
import { ArgumentUse } from '../../program/linked.js'
import { Opcode, OperandKind, StackEffect } from '../../program/generated/opcodes.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { PickleOp } from '../../formats/containers/pickle/opcodes.js'
import { Limit, Status } from '../../runtime/native/generated/numbers.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Layout, MemoryFormat } from '../../runtime/tensor/options.js'
import type { Selection } from '../selection/selection.js'
import type { ConstantFields } from './rewrite.js'

/** The enumerations of the runtime and of its kernels. Each has one meaning in all files. */
export function constantFields(abi: KernelAbi): ConstantFields {
  const kernels = abi.enums.map((e): [string, Record<string, number>] => [
    e.name,
    Object.fromEntries(e.values.map((value, i) => [value, i])),
  ])
  return new Map<string, Readonly<Record<string, number>>>([
    ...kernels,
    ...Object.entries({ DType, MemoryFormat, Layout, ArgumentUse, PickleOp, Limit, Status, Opcode, OperandKind, StackEffect }),
  ])
}

/** Numbers of the instructions of a selection; null for all. */
export function opcodesOf({ instructions }: Selection): ReadonlySet<number> | null {
  return instructions === null ? null : new Set([...instructions].map((name) => OPCODE_BY_NAME.get(name)!))
}
