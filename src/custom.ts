import { asStorage as storageOf } from '../runtime/operators/table/unbox.js'
import { DType as dtypeNumbers } from '../runtime/tensor/dtype.js'
import type { Stack } from '../runtime/tensor/value.js'

/**
 * What custom operators are made of: the files that `ptlite codegen --ops` writes use it, and native functions can.
 * Tensors given to a native function belong to the caller; what it returns goes to the caller.
 */
export { CPU, highestKey, keyOf, keyOfList, keyOfTop, noBackend, QuantizedCPU } from '../runtime/operators/key.js'
export * as frame from '../runtime/native/frame.js'
export type { Launch } from '../runtime/native/host.js'
export { openLibrary } from '../runtime/native/custom-library.js'
export { copyOf, copyOfEach, optionsOf, writeOut, writeOuts } from '../runtime/operators/table/derive.js'
export * from '../runtime/operators/table/pack.js'
export { callBuiltin, type CustomOperator, registerOperators } from '../runtime/operators/table/registry.js'
export type { BoxedFunction, OperatorSchema, SchemaArgument, SchemaReturn } from '../runtime/operators/table/schema.js'
export * from '../runtime/operators/table/unbox.js'
export * from './custom-tensors.js'
export * as c from './custom-c.js'
export { canCast, type DType, isFloating, isIntegral, isQuantized, itemSize } from '../runtime/tensor/dtype.js'
export { promoteTypes } from '../runtime/tensor/promote.js'
export { RandomGenerator } from '../runtime/tensor/value.js'
export { Layout, MemoryFormat, type TensorOptions } from '../runtime/tensor/options.js'
export { type AnyScalar, Complex, Float, type Int, type Scalar } from '../runtime/tensor/scalar.js'
export { broadcastShapes, contiguousStrides, numelOf, sameShape, wrapDim } from '../runtime/tensor/shape.js'
export type { Stack } from '../runtime/tensor/value.js'
export { Tensor } from './tensor-type.js'
export { CustomObject, Device, type DictKey, Tuple, type Value } from '../runtime/tensor/value.js'

/** Memory of a tensor, which only the library knows the inside of. */
export function asStorage(s: Stack, arg: number): { readonly byteLength: number } {
  return storageOf(s, arg)
}

/** Numbers of the dtypes, as in `tensor.type` and kernel frames: `dtypes.float32`. */
export const dtypes = dtypeNumbers
