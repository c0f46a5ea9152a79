import type { DType } from '../../tensor/dtype.js'
import { type CustomObject, type Device, type DictKey, RandomGenerator, type Stack, Tuple, type Value } from '../../tensor/value.js'
import type { TensorOptions } from '../../tensor/options.js'
import { type AnyScalar, type Complex, Float, type Int, type Scalar } from '../../tensor/scalar.js'
import { Storage } from '../../tensor/storage.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as rule from './unbox-value.js'
import { noQuantizedKernel, noteOperator, tooFewInputs, wrongType } from './unbox-error.js'

/*
 * What generated wrappers call. They move the top of the stack below the arguments, which stay readable above it;
 * `asX(s, i)` gives argument i as the native function wants it. Errors name operator and argument.
 */

/** Takes `count` arguments off the stack; `operator` is the number of the operator in the table. */
export function take(s: Stack, count: number, operator: number): void {
  noteOperator(operator)
  s.top -= count
}

/**
 * Takes as many arguments as the number on top of the stack says; `fixed` of them are named. Returns the number.
 * `operator` is left out where it was noted before.
 */
export function takeVarargs(s: Stack, fixed: number, operator?: number): number {
  if (operator !== undefined) noteOperator(operator)
  const count = s.values[--s.top]!
  if (typeof count !== 'number' || count < fixed || count > s.top) tooFewInputs(fixed, count)
  s.top -= count
  return count
}

/** The arguments of a vararg operator after the `fixed` ones. */
export function rest(s: Stack, fixed: number, count: number): Value[] {
  return s.values.slice(s.top + fixed, s.top + count)
}

function at(s: Stack, arg: number): Value {
  return s.values[s.top + arg]!
}

export function asTensor(s: Stack, arg: number): Tensor {
  return rule.toTensor(at(s, arg), arg)
}

export function asTensorOrNull(s: Stack, arg: number): Tensor | null {
  return at(s, arg) === null ? null : asTensor(s, arg)
}

export function asInt(s: Stack, arg: number): number {
  return rule.toNumber(at(s, arg), arg)
}

export function asIntOrNull(s: Stack, arg: number): number | null {
  return at(s, arg) === null ? null : asInt(s, arg)
}

export function asLong(s: Stack, arg: number): Int {
  return rule.toLong(at(s, arg), arg)
}

export function asLongOrNull(s: Stack, arg: number): Int | null {
  return at(s, arg) === null ? null : asLong(s, arg)
}

export function asFloat(s: Stack, arg: number): number {
  return rule.toFloat(at(s, arg), arg)
}

export function asFloatOrNull(s: Stack, arg: number): number | null {
  return at(s, arg) === null ? null : asFloat(s, arg)
}

export function asBool(s: Stack, arg: number): boolean {
  return rule.toBool(at(s, arg), arg)
}

export function asBoolOrNull(s: Stack, arg: number): boolean | null {
  return at(s, arg) === null ? null : asBool(s, arg)
}

export function asStr(s: Stack, arg: number): string {
  return rule.toStr(at(s, arg), arg)
}

export function asStrOrNull(s: Stack, arg: number): string | null {
  return at(s, arg) === null ? null : asStr(s, arg)
}

export function asScalar(s: Stack, arg: number): Scalar {
  return rule.toScalar(at(s, arg), arg)
}

export function asScalarOrNull(s: Stack, arg: number): Scalar | null {
  return at(s, arg) === null ? null : asScalar(s, arg)
}

/** The same for operators that compute with complex numbers. */
export function asAnyScalar(s: Stack, arg: number): AnyScalar {
  return rule.toAnyScalar(at(s, arg), arg)
}

export function asComplex(s: Stack, arg: number): Complex {
  return rule.toComplex(at(s, arg), arg)
}

export function asDType(s: Stack, arg: number): DType {
  return rule.toDType(at(s, arg), arg)
}

export function asDTypeOrNull(s: Stack, arg: number): DType | null {
  return at(s, arg) === null ? null : asDType(s, arg)
}

export function asLayout(s: Stack, arg: number): number {
  return rule.toLayout(at(s, arg), arg)
}

export function asLayoutOrNull(s: Stack, arg: number): number | null {
  return at(s, arg) === null ? null : asLayout(s, arg)
}

export function asMemoryFormat(s: Stack, arg: number): number {
  return rule.toMemoryFormat(at(s, arg), arg)
}

export function asMemoryFormatOrNull(s: Stack, arg: number): number | null {
  return at(s, arg) === null ? null : asMemoryFormat(s, arg)
}

export function asDevice(s: Stack, arg: number): Device {
  return rule.toDevice(at(s, arg), arg)
}

export function asDeviceOrNull(s: Stack, arg: number): Device | null {
  return at(s, arg) === null ? null : asDevice(s, arg)
}

/** Gathers dtype, layout, device and pin_memory, which start at `arg`. */
export function asOptions(s: Stack, arg: number): TensorOptions {
  return {
    dtype: asDTypeOrNull(s, arg),
    layout: asLayoutOrNull(s, arg + 1),
    device: asDeviceOrNull(s, arg + 2),
    pinMemory: asBoolOrNull(s, arg + 3),
  }
}

export function asGenerator(s: Stack, arg: number): RandomGenerator {
  const v = at(s, arg)
  return v instanceof RandomGenerator ? v : wrongType(v, arg)
}

export function asGeneratorOrNull(s: Stack, arg: number): RandomGenerator | null {
  return at(s, arg) === null ? null : asGenerator(s, arg)
}

/** No program makes storages; callers of the unboxed API may hand one over. */
export function asStorage(s: Stack, arg: number): Storage {
  const v: unknown = at(s, arg)
  return v instanceof Storage ? v : wrongType(v as Value, arg)
}

/*
 * The same for an operator that has a CPU kernel and none for quantized tensors: one costs a comparison, where a
 * dispatch key would have to be computed from all arguments.
 */

export function asPlainTensor(s: Stack, arg: number): Tensor {
  return plain(asTensor(s, arg), arg)
}

export function asPlainTensorOrNull(s: Stack, arg: number): Tensor | null {
  return at(s, arg) === null ? null : asPlainTensor(s, arg)
}

export function asPlainTensors(s: Stack, arg: number): Tensor[] {
  return allPlain(asTensors(s, arg), arg)
}

export function asPlainOptionalTensors(s: Stack, arg: number): (Tensor | null)[] {
  return allPlain(asOptionalTensors(s, arg), arg)
}

function plain(t: Tensor, arg: number): Tensor {
  return t.quant === null ? t : noQuantizedKernel(t, arg)
}

function allPlain<T extends Tensor | null>(tensors: T[], arg: number): T[] {
  for (let i = 0; i < tensors.length; i++) {
    const t = tensors[i]!
    if (t !== null) plain(t, arg)
  }
  return tensors
}

export function asTensors(s: Stack, arg: number): Tensor[] {
  return rule.toTensors(at(s, arg), arg, false) as Tensor[]
}

export function asTensorsOrNull(s: Stack, arg: number): Tensor[] | null {
  return at(s, arg) === null ? null : asTensors(s, arg)
}

export function asOptionalTensors(s: Stack, arg: number): (Tensor | null)[] {
  return rule.toTensors(at(s, arg), arg, true) as (Tensor | null)[]
}

export function asOptionalTensorsOrNull(s: Stack, arg: number): (Tensor | null)[] | null {
  return at(s, arg) === null ? null : asOptionalTensors(s, arg)
}

/** Of a sized list, `size` says how many equal ints a single one stands for; likewise below. */
export function asInts(s: Stack, arg: number, size = 0): number[] {
  return rule.toNumbers(at(s, arg), arg, size)
}

export function asIntsOrNull(s: Stack, arg: number, size = 0): number[] | null {
  return at(s, arg) === null ? null : asInts(s, arg, size)
}

export function asFloats(s: Stack, arg: number, size = 0): number[] {
  return rule.toList(at(s, arg), arg, size, rule.toFloat)
}

export function asFloatsOrNull(s: Stack, arg: number, size = 0): number[] | null {
  return at(s, arg) === null ? null : asFloats(s, arg, size)
}

export function asBools(s: Stack, arg: number, size = 0): boolean[] {
  return rule.toList(at(s, arg), arg, size, rule.toBool)
}

export function asBoolsOrNull(s: Stack, arg: number, size = 0): boolean[] | null {
  return at(s, arg) === null ? null : asBools(s, arg, size)
}

/** bool[size], which takes exactly as many. */
export function asFlags(s: Stack, arg: number, size: number): boolean[] {
  const flags = asBools(s, arg, size)
  return flags.length === size ? flags : wrongType(at(s, arg), arg)
}

export function asFlagsOrNull(s: Stack, arg: number, size: number): boolean[] | null {
  return at(s, arg) === null ? null : asFlags(s, arg, size)
}

export function asStrs(s: Stack, arg: number, size = 0): string[] {
  return rule.toList(at(s, arg), arg, size, rule.toStr)
}

export function asStrsOrNull(s: Stack, arg: number, size = 0): string[] | null {
  return at(s, arg) === null ? null : asStrs(s, arg, size)
}

export function asScalars(s: Stack, arg: number, size = 0): Scalar[] {
  return rule.toList(at(s, arg), arg, size, rule.toScalar)
}

export function asScalarsOrNull(s: Stack, arg: number, size = 0): Scalar[] | null {
  return at(s, arg) === null ? null : asScalars(s, arg, size)
}

export function asCustom(s: Stack, arg: number): CustomObject {
  return rule.toCustom(at(s, arg), arg)
}

export function asCustomOrNull(s: Stack, arg: number): CustomObject | null {
  return at(s, arg) === null ? null : asCustom(s, arg)
}

export function asCustoms(s: Stack, arg: number): CustomObject[] {
  return rule.toList(at(s, arg), arg, 0, rule.toCustom)
}

/** The list itself, so that its changes are seen by all who hold it. */
export function asList(s: Stack, arg: number): Value[] {
  const v = at(s, arg)
  return Array.isArray(v) ? v : wrongType(v, arg)
}

export function asListOrNull(s: Stack, arg: number): Value[] | null {
  return at(s, arg) === null ? null : asList(s, arg)
}

export function asDict(s: Stack, arg: number): Map<DictKey, Value> {
  const v = at(s, arg)
  return v instanceof Map ? v : wrongType(v, arg)
}

export function asDictOrNull(s: Stack, arg: number): Map<DictKey, Value> | null {
  return at(s, arg) === null ? null : asDict(s, arg)
}

export function asTuple(s: Stack, arg: number): Tuple {
  const v = at(s, arg)
  return v instanceof Tuple ? v : wrongType(v, arg)
}

export function asTupleOrNull(s: Stack, arg: number): Tuple | null {
  return at(s, arg) === null ? null : asTuple(s, arg)
}

/** Any value; a plain fraction is a float. */
export function asAny(s: Stack, arg: number): Value {
  const v = at(s, arg)
  return typeof v === 'number' && !Number.isInteger(v) ? new Float(v) : v
}
