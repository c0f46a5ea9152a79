import { absent, PtliteError } from '../runtime/error.js'
import { isFloatScalar } from '../runtime/tensor/scalar.js'
import { isFloating } from '../runtime/tensor/dtype.js'
import type { Stack, Value } from '../runtime/tensor/value.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { type LinkedOperator, standIn } from './linked.js'
import * as features from '../runtime/features.js'

/**
 * Operators that meant something else in older operator versions. A file of such a version gets the old meaning:
 * the call is rewritten on the stack before one of today's operators runs. These are the upgraders of PyTorch's mobile
 * interpreter, the same ones in 1.13 and 2.13; `aten::full`, which full TorchScript upgrades too, keeps today's meaning in mobile files.
 */
export interface Upgrader {
  /** How many arguments the old operator has. */
  readonly argCount: number
  /** Today's operators that it calls one of. */
  readonly uses: readonly string[]
  /** Puts the arguments of today's operator in the place of the old one's, which are on top of the stack. Returns its place in `uses`. */
  readonly rewrite: (stack: Stack) => number
}

/** True division when any operand is floating point, else division of integers that truncates. */
function divide(plain: string, withMode: string, argCount: number): Upgrader {
  return {
    argCount,
    uses: [plain, withMode],
    rewrite: (stack) => {
      const base = stack.top - argCount
      if (stack.values.slice(base, stack.top).some(isFloatingOperand)) return 0
      // the mode stands between the operands and `out`
      for (let i = stack.top; i > base + 2; i--) stack.values[i] = stack.values[i - 1]!
      stack.values[base + 2] = 'trunc'
      stack.top++
      return 1
    },
  }
}

function isFloatingOperand(value: Value): boolean {
  return value instanceof Tensor ? isFloating(value.type) : isFloatScalar(value)
}

/** `steps` used to be optional: 100. It is the third argument. */
function hundredSteps(name: string, argCount: number): Upgrader {
  return {
    argCount,
    uses: [name],
    rewrite: (stack) => {
      stack.values[stack.top - argCount + 2] ??= 100
      return 0
    },
  }
}

export const UPGRADERS: Readonly<Record<string, Upgrader>> = {
  'aten::div.Tensor': divide('aten::div.Tensor', 'aten::div.Tensor_mode', 2),
  'aten::div.Scalar': divide('aten::div.Scalar', 'aten::div.Scalar_mode', 2),
  'aten::div_.Tensor': divide('aten::div_.Tensor', 'aten::div_.Tensor_mode', 2),
  'aten::div_.Scalar': divide('aten::div_.Scalar', 'aten::div_.Scalar_mode', 2),
  'aten::div.out': divide('aten::div.out', 'aten::div.out_mode', 3),
  'aten::linspace': hundredSteps('aten::linspace', 7),
  'aten::linspace.out': hundredSteps('aten::linspace.out', 4),
  'aten::logspace': hundredSteps('aten::logspace', 8),
  'aten::logspace.out': hundredSteps('aten::logspace.out', 5),
}

/** Last operator versions with the old meaning. */
const UNTIL: readonly (readonly [names: RegExp, version: number])[] = [
  [/^aten::div_?\.(?:Tensor|Scalar|out)$/, 3],
  [/^aten::linspace(?:\.out)?$/, 7],
  [/^aten::logspace(?:\.out)?$/, 8],
]

/** Whether an operator ever had another meaning. */
export function hasChanged(qualifiedName: string): boolean {
  return UNTIL.some(([names]) => names.test(qualifiedName))
}

/** The upgrader for an operator of a file, or undefined where its meaning is today's. `gelu` only gained a default. Throws UNSUPPORTED_FILE where the build has none. */
export function upgraderFor(qualifiedName: string, operatorVersion: number): Upgrader | undefined {
  if (!UNTIL.some(([names, version]) => operatorVersion <= version && names.test(qualifiedName))) return undefined
  if (!features.upgraders) throw absent(`${qualifiedName} of operator version ${operatorVersion}`, 'UNSUPPORTED_FILE')
  return UPGRADERS[qualifiedName]
}

/**
 * An operator of a file with its old meaning, or undefined where that is today's. `link` is asked for today's operators that it calls;
 * they take all of their arguments.
 */
export function upgradedOperator(
  name: string,
  argCount: number,
  operatorVersion: number,
  link: (name: string) => LinkedOperator,
): LinkedOperator | undefined {
  const upgrader = upgraderFor(name, operatorVersion)
  if (!features.upgraders || upgrader === undefined) return undefined
  const operators = upgrader.uses.map(link)
  const total = upgrader.argCount
  const given = argCount < 0 ? total : argCount
  if (given > total) throw new PtliteError('INVALID_FILE', `${name} takes ${total} arguments, the file gives ${given}`)
  const outs = operators[0]!.outs
  if (given < outs) throw new PtliteError('INVALID_FILE', `${name} writes to ${outs} arguments, the file gives ${given}`)
  const defaults = given < total ? omittedValues(operators[0]!, given - outs, total - given) : null
  const upgrade = (stack: Stack): LinkedOperator => operators[upgrader.rewrite(stack)]!
  return { ...standIn(name, given, (stack) => upgrade(stack).call(stack), 1, defaults), outs, upgrade }
}

/** The defaults of arguments that a call leaves out, from `first` on: today's, or None, as those were that have none any more. */
function omittedValues({ entry }: LinkedOperator, first: number, count: number): Value[] {
  return entry!.schema.arguments.slice(first, first + count).map(({ defaultValue }) => defaultValue ?? null)
}
