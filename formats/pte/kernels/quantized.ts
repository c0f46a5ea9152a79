import { findOperator } from '../../../runtime/operators/table/registry.js'
import { damaged } from '../../../program/file-error.js'
import type { Kernel } from '../kernel.js'
import type { MethodEmitter } from '../method-emitter.js'
import { QUANTIZED } from './parts.js'

/* Operators of `quantized_decomposed`: those that this runtime has are called, the others are written with operators that it has. */

/** c10::ScalarType. */
const FLOAT = 6

/** Kernels of as many arguments, and of so many results behind them. */
function kernel(count: number, results: number, write: (args: readonly number[], emitter: MethodEmitter) => void): Kernel {
  return {
    effects: (args) => ({ reads: args.slice(0, count), writes: args.slice(count, count + results) }),
    emit(args, emitter) {
      if (args.length < count + results) throw damaged(`expected ${count + results} arguments, found ${args.length}`)
      write(args, emitter)
      emitter.bound(args.slice(count, count + results))
      for (let i = results - 1; i >= 0; i--) emitter.store(args[count + i]!)
    },
  }
}

/** An operator of the same name and arguments. */
function same(name: string): Kernel | undefined {
  const own = name.replace(/\.out$/, '').replace(/\.Tensor_out$/, '.tensor')
  const entry = own === name ? undefined : findOperator(own)
  if (entry === undefined) return undefined
  const { arguments: args, returns } = entry.schema
  return kernel(args.length, returns.length, (values, emitter) => {
    args.forEach(({ type }, i) => emitter.pushAs(values[i]!, type))
    emitter.operator(own, args.length)
  })
}

/** a * b of a tensor on the stack and another value. */
function times(emitter: MethodEmitter, push: () => void): void {
  push()
  emitter.operator('aten::mul.Tensor', 2)
}

function cast(emitter: MethodEmitter, dtype: number): void {
  emitter.constant(dtype)
  emitter.operator('aten::to.dtype', 2)
}

/** A row of weights for each index, with its scales: packed integers of so many bits, of which the first comes in the highest bits where `highFirst`. */
function embedding(bits: 2 | 4 | 8, hasDtype: boolean): Kernel {
  return kernel(hasDtype ? 7 : 6, 1, (args, emitter) => {
    const [weight, scales, zeroPoints, , , indices] = args as [number, number, number, number, number, number]
    const rows = (table: number): void => {
      emitter.pushAs(table, 'Tensor')
      // scales may be one for a row
      emitter.pushAs(indices, 'Tensor')
      emitter.operator('aten::embedding', 2)
    }
    const column = (table: number): void => {
      const { sizes } = emitter.tensor(table)
      emitter.pushAs(table, 'Tensor')
      if (sizes.length === 1) {
        emitter.constant(1)
        emitter.operator('aten::unsqueeze', 2)
      }
      emitter.pushAs(indices, 'Tensor')
      emitter.operator('aten::embedding', 2)
    }
    const groups = emitter.tensor(scales).sizes[1] ?? 1
    rows(weight)
    if (bits !== 8) unpack(bits, emitter)
    cast(emitter, FLOAT)
    if (groups > 1) grouped(groups, emitter)
    if (!emitter.variables.isNone(zeroPoints)) {
      column(zeroPoints)
      cast(emitter, FLOAT)
      if (groups > 1) lastDim(emitter)
      emitter.operator('aten::sub.Tensor', 2)
    }
    times(emitter, () => {
      column(scales)
      cast(emitter, FLOAT)
      if (groups > 1) lastDim(emitter)
    })
    if (groups > 1) {
      emitter.constant(-2)
      emitter.constant(-1)
      emitter.operator('aten::flatten.using_ints', 3)
    }
    cast(emitter, emitter.tensor(args[hasDtype ? 7 : 6]!).scalarType)
  })
}

/** The last dimension of the tensor on the stack as groups. */
function grouped(groups: number, emitter: MethodEmitter): void {
  emitter.constant(-1)
  emitter.constant([groups, -1])
  emitter.operator('aten::unflatten.int', 3)
}

function lastDim(emitter: MethodEmitter): void {
  emitter.constant(-1)
  emitter.operator('aten::unsqueeze', 2)
}

/** Integers of 2 or 4 bits, which are stored with the smallest one as 0, from the bytes on the stack. */
function unpack(bits: 2 | 4, emitter: MethodEmitter): void {
  const { builder } = emitter
  const bytes = emitter.temporary()
  builder.emit('STORE', bytes)
  // two to a byte have the first one in the higher bits, four in the lowest
  const shifts = bits === 4 ? [4, 0] : [0, 2, 4, 6]
  for (const shift of shifts) {
    builder.emit('LOAD', bytes)
    if (shift > 0) {
      builder.constant(shift)
      builder.operator('aten::bitwise_right_shift.Tensor_Scalar', 2)
    }
    builder.constant(2 ** bits - 1)
    builder.operator('aten::bitwise_and.Scalar', 2)
  }
  builder.emit('LIST_CONSTRUCT', builder.type('Tensor'), shifts.length)
  builder.constant(-1)
  builder.operator('aten::stack', 2)
  builder.constant(-2)
  builder.constant(-1)
  builder.operator('aten::flatten.using_ints', 3)
  cast(emitter, FLOAT)
  builder.constant(2 ** (bits - 1))
  builder.operator('aten::sub.Scalar', 2)
}

/** The weights of `mixed_mm` and `mixed_linear` as floats: integers with a scale for each row, or for each group of a row's columns. */
function pushWeight(weight: number, scales: number, zeroPoints: number, dtype: number, emitter: MethodEmitter): void {
  const { sizes } = emitter.tensor(scales)
  const groups = sizes[1] ?? 1
  const parameter = (index: number): void => {
    emitter.pushAs(index, 'Tensor')
    cast(emitter, dtype)
    if (sizes.length === 1 || groups > 1) lastDim(emitter)
  }
  emitter.pushAs(weight, 'Tensor')
  cast(emitter, dtype)
  if (groups > 1) grouped(groups, emitter)
  if (!emitter.variables.isNone(zeroPoints)) {
    parameter(zeroPoints)
    emitter.operator('aten::sub.Tensor', 2)
  }
  times(emitter, () => parameter(scales))
  if (groups > 1) {
    emitter.constant(-2)
    emitter.constant(-1)
    emitter.operator('aten::flatten.using_ints', 3)
  }
}

/** (a, its parameters and range, b, ..., those of the sum) */
const add = kernel(14, 1, (args, emitter) => {
  const out = emitter.tensor(args[14]!).scalarType
  for (const first of [0, 5]) {
    const operand = args[first]!
    emitter.pushAs(operand, 'Tensor')
    for (const [i, type] of ['float', 'int', 'int', 'int'].entries()) emitter.pushAs(args[first + 1 + i]!, type)
    emitter.constant(emitter.tensor(operand).scalarType)
    emitter.operator(`${QUANTIZED}dequantize_per_tensor`, 6)
  }
  emitter.operator('aten::add.Tensor', 2)
  for (const [i, type] of ['float', 'int', 'int', 'int'].entries()) emitter.pushAs(args[10 + i]!, type)
  emitter.constant(out)
  emitter.operator(`${QUANTIZED}quantize_per_tensor`, 6)
})

const KERNELS: Readonly<Record<string, Kernel>> = {
  'embedding_byte.out': embedding(8, false),
  'embedding_byte.dtype_out': embedding(8, true),
  'embedding_2bit.out': embedding(2, false),
  'embedding_2bit.dtype_out': embedding(2, true),
  'embedding_4bit.out': embedding(4, false),
  'embedding_4bit.dtype_out': embedding(4, true),
  'mixed_mm.out': kernel(4, 1, ([input, weight, scales, zeroPoints], emitter) => {
    emitter.pushAs(input!, 'Tensor')
    pushWeight(weight!, scales!, zeroPoints!, emitter.tensor(input!).scalarType, emitter)
    emitter.operator('aten::mm', 2)
  }),
  'mixed_linear.out': kernel(5, 1, ([input, weight, scales, zeroPoints, , out], emitter) => {
    emitter.pushAs(input!, 'Tensor')
    pushWeight(weight!, scales!, zeroPoints!, emitter.tensor(input!).scalarType, emitter)
    emitter.operator('aten::linear', 2)
    cast(emitter, emitter.tensor(out!).scalarType)
  }),
  'add.out': add,
}

export function quantizedKernel(name: string): Kernel | undefined {
  if (!name.startsWith(QUANTIZED)) return undefined
  const own = name.slice(QUANTIZED.length)
  return Object.hasOwn(KERNELS, own) ? KERNELS[own] : same(name)
}
