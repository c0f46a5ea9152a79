import { PtliteError } from '../../error.js'
import { DType, dtypeName, isFloat8, isFloating, isIntegral, isLimited } from '../../tensor/dtype.js'
import { Float, type Scalar, scalarBits, toInt } from '../../tensor/scalar.js'
import { float8Value } from '../../tensor/float8.js'
import { Tensor } from '../../tensor/tensor.js'
import { newStack, push, type Stack, type Value } from '../../tensor/value.js'
import { copyInto } from '../support/copy.js'
import { converted } from '../support/converted.js'
import { limitedRule, type LimitedRule, needsFloat, takesAll } from './limited-rules.js'
import { isWritten, type OperatorSchema } from './schema.js'

/*
 * Calls with tensors of dtypes that have little arithmetic (runtime/tensor/dtype.ts). What PyTorch computes with them is computed with tensors that hold
 * the same numbers, and the results become elements of the dtype again; everything else is refused as there.
 */

/** An operator as the table has it. */
interface Callable {
  readonly qualifiedName: string
  readonly schema: OperatorSchema
  call(stack: Stack): void
}

/** How calls that an operator with such tensors comes to find others. */
export type FindOperator = (qualifiedName: string) => Callable | undefined

const TENSORS = /^Tensor\??(\[\d*\])?$/

/**
 * Carries a call out whose arguments on the stack have a tensor of such a dtype; false where the operator's own code is to be called. Throws
 * INVALID_DTYPE for operators that take none.
 */
export function callLimited(operator: Callable, stack: Stack, find: FindOperator): boolean {
  const { schema, qualifiedName } = operator
  if (schema.isVararg) return false
  const count = schema.arguments.length
  const start = stack.top - count
  const type = limitedType(stack, start, schema)
  if (type === undefined || takesAll(qualifiedName)) return false
  const name = qualifiedName.split('.')[0]!
  const base = name.endsWith('_') && !name.endsWith('__') ? name.slice(0, -1) : name
  const rule = limitedRule(name) ?? limitedRule(base)
  if (isView(schema) || isViewCopy(name) || rule?.by === 'as-is') return false
  const given = stack.values.slice(start, stack.top)
  if (rule === undefined || !takes(rule, name, type)) throw refused(qualifiedName, type)
  if (schema.arguments.some(({ isOut }) => isOut)) throw refused(`${qualifiedName} with out=`, type)
  const written = isWritten(schema.arguments[0]) ? given[0] : undefined
  if (written instanceof Tensor && !isLimited(written.type)) throw refused(qualifiedName, type)
  checkOperands(qualifiedName, base, given, type)
  const functional = written === undefined ? operator : find(`${base}${qualifiedName.slice(name.length)}`)
  if (functional === undefined) throw refused(qualifiedName, type)
  const results = computed(functional, given, type, rule, find)
  stack.top = start
  if (written instanceof Tensor) {
    writeBack(qualifiedName, written, results[0]!)
    results[0] = written
  }
  for (const result of results) stack.values[stack.top++] = result
  return true
}

function takes(rule: LimitedRule, name: string, type: DType): boolean {
  // of floats of 8 bits this one alone has infinities
  if (type === DType.float8_e5m2 && (name === 'aten::isinf' || name === 'aten::isfinite')) return true
  return isFloat8(type) ? rule.float8 : rule.unsigned
}

function refused(operator: string, type: DType): PtliteError {
  return new PtliteError(
    'INVALID_DTYPE',
    `${operator} is not implemented for ${dtypeName(type)}, nor in PyTorch; convert the tensor with to() first`,
  )
}

/** The dtype of the first such tensor among the arguments that the schema calls tensors. */
function limitedType(stack: Stack, start: number, schema: OperatorSchema): DType | undefined {
  for (let i = 0; i < schema.arguments.length; i++) {
    const value = stack.values[start + i]!
    if (value instanceof Tensor) {
      if (isLimited(value.type) && TENSORS.test(schema.arguments[i]!.type)) return value.type
    } else if (Array.isArray(value) && TENSORS.test(schema.arguments[i]!.type)) {
      for (const item of value) if (item instanceof Tensor && isLimited(item.type)) return item.type
    }
  }
  return undefined
}

/** Views are of any dtype: results that share memory with an argument, which is not written. */
function isView(schema: OperatorSchema): boolean {
  const alias = schema.returns[0]?.alias
  return alias !== null && alias !== undefined && !alias.includes('!')
}

/** `t_copy` and its kin: a view, copied. */
function isViewCopy(name: string): boolean {
  return name.endsWith('_copy') && name !== 'aten::index_copy'
}

/** Throws INVALID_DTYPE where PyTorch knows no common dtype of the operands, or computes with floating-point numbers beside them alone. */
function checkOperands(operator: string, base: string, given: readonly Value[], type: DType): void {
  const others = given.flatMap((value) => (value instanceof Tensor && value.type !== type && value.type !== DType.bool ? [value] : []))
  const isFloat = (value: Value): boolean => value instanceof Float || (value instanceof Tensor && isFloating(value.type))
  if (needsFloat(base) && !given.some(isFloat)) throw refused(operator, type)
  if (base === 'aten::index_put') return
  // numbers beside floats of 8 bits are compared with, and nothing else
  if (
    isFloat8(type) &&
    operator.startsWith('aten::mul.') &&
    (others.length > 0 || given.some((value, i) => i > 0 && !(value instanceof Tensor)))
  )
    throw refused(operator, type)
  const wrong = others.find((t) => t.dim > 0 && (isFloat8(type) || isIntegral(t.type)))
  if (wrong !== undefined)
    throw new PtliteError(
      'INVALID_DTYPE',
      `${operator}: there is no common dtype of ${dtypeName(type)} and ${wrong.dtype}; convert one of them with to() first`,
    )
}

/** The results of a call with tensors that hold the same numbers. */
function computed(operator: Callable, given: readonly Value[], type: DType, rule: LimitedRule, find: FindOperator): Value[] {
  const hasFloat = given.some(
    (value) => value instanceof Float || (value instanceof Tensor && isFloating(value.type) && value.type !== type),
  )
  const isReal = isFloat8(type) || rule.by === 'real' || hasFloat
  const carrier = isReal ? DType.float32 : DType.int64
  const sorts = type === DType.uint64 && /sort|unique/.test(operator.qualifiedName)
  const stand = (value: Value): Value => {
    if (Array.isArray(value)) return value.map(stand)
    if (!(value instanceof Tensor)) return value
    if (isLimited(value.type)) return sorts ? flipped(converted(value, carrier), find) : converted(value, carrier)
    const isRounded = value.dim === 0 && value.type !== DType.bool && (isFloat8(type) || isIntegral(value.type))
    return isRounded ? converted(converted(value, type), carrier) : value
  }
  const own = newStack()
  operator.schema.arguments.forEach(({ type: declared }, i) => {
    const value = given[i]!
    const isNumber = declared === 'Scalar' && typeof value !== 'boolean' && (isFloat8(type) || !(value instanceof Float))
    push(own, isNumber ? held(value as Scalar, type) : stand(value))
  })
  operator.call(own)
  return own.values.slice(0, own.top).map((value, i) => {
    const isBack = value instanceof Tensor && value.type === carrier && rule.back.includes(i) && (isFloat8(type) || !isReal)
    return isBack ? converted(sorts ? flipped(value, find) : value, type) : value
  })
}

/** A number as an element of the dtype holds it. */
function held(value: Scalar, type: DType): Scalar {
  const [low, high] = scalarBits(type, value)
  if (isFloat8(type)) return new Float(float8Value(low, type))
  if (type === DType.uint16) return low & 0xffff
  return type === DType.uint32 ? low >>> 0 : toInt((BigInt(high) << 32n) | BigInt(low >>> 0))
}

/** Unsigned 64-bit integers, whose bits int64 elements hold, in the order of signed ones, and back. */
function flipped(t: Tensor, find: FindOperator): Tensor {
  const stack = newStack()
  push(stack, t)
  push(stack, -(2n ** 63n))
  find('aten::__xor__.Scalar')!.call(stack)
  return stack.values[0] as Tensor
}

function writeBack(operator: string, written: Tensor, result: Value): void {
  if (!(result instanceof Tensor)) throw refused(operator, written.type)
  if (isFloating(result.type) && !isFloating(written.type))
    throw new PtliteError('INVALID_DTYPE', `${operator}: a ${result.dtype} result cannot be written into a ${written.dtype} tensor`)
  copyInto(written, result)
}

/** Throws INVALID_DTYPE where an operator that is given such a dtype as an argument makes no tensors of it. */
export function checkLimited(qualifiedName: string, type: DType): void {
  const rule = limitedRule(qualifiedName.split('.')[0]!)
  const makes = rule?.by === 'as-is' || qualifiedName === 'aten::view.dtype' || (isFloat8(type) && qualifiedName.startsWith('aten::eye'))
  if (!makes && !takesAll(qualifiedName)) throw refused(qualifiedName, type)
}
