import type { KernelAbi } from '../../codegen/kernel-abi/model.js'
import { PickleOp } from '../../formats/containers/pickle/opcodes.js'
import { Opcode, OperandKind, StackEffect } from '../../program/generated/opcodes.js'
import { ArgumentUse } from '../../program/linked.js'
import { Limit, Status } from '../../runtime/native/generated/numbers.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Layout, MemoryFormat } from '../../runtime/tensor/options.js'

/** Constant objects by name and field, `DType.float32`. */
export type ConstantFields = ReadonlyMap<string, Readonly<Record<string, number>>>

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

/** A source file with numbers in place of fields of constant objects. */
export function rewriteConstants(source: string, constants: ConstantFields): string {
  const names = [...constants.keys()].join('|')
  return source.replace(
    new RegExp(`(?<!\\btypeof )\\b(?:kernels\\.)?(${names})\\.(\\w+)\\b(?!\\()`, 'g'),
    (text, name: string, field: string) => {
      const value = constants.get(name)![field]
      return value === undefined ? text : String(value)
    },
  )
}
