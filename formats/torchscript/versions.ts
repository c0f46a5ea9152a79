import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import type { Builder } from './builder.js'
import type { Value } from './graph.js'
import type { Overload } from './schemas.js'
import { FLOAT, INT, optionalOf } from './types.js'

/*
 * What operators of older versions mean. Calls of operators whose result changed (`aten::div` and others) are rewritten when they are linked, as those of
 * mobile files are; here is what code needs before that.
 */

/** Last operator version in which `steps` could be None, by operator; which linking replaces by 100. */
const OPTIONAL_STEPS: Readonly<Record<string, number>> = {
  'aten::linspace': 7,
  'aten::linspace.out': 7,
  'aten::logspace': 8,
  'aten::logspace.out': 8,
}
/** Last operator version in which `aten::full` made floats of ints where no dtype was given. */
const FLOAT_FULL = 4

/** The overloads as code of an operator version sees them. */
export function versionedOverloads(overloads: readonly Overload[], version: number): readonly Overload[] {
  if (!overloads.some(({ entry }) => version <= (OPTIONAL_STEPS[entry.qualifiedName] ?? 0))) return overloads
  return overloads.map((overload) => ({
    ...overload,
    args: overload.args.map((arg) => (arg.name === 'steps' ? { ...arg, type: optionalOf(INT), default: null } : arg)),
  }))
}

/** The arguments of a call, converted to what today's operator means. */
export function upgradedInputs(builder: Builder, { qualifiedName, schema }: OperatorEntry, inputs: readonly Value[]): readonly Value[] {
  if (qualifiedName !== 'aten::full' || builder.library.operatorVersion > FLOAT_FULL) return inputs
  const dtype = schema.arguments.findIndex(({ name }) => name === 'dtype')
  const [size, fill] = inputs
  if (inputs[dtype]?.constant !== null || fill!.type === FLOAT) return inputs
  return [size!, builder.operator('aten::Float.Scalar', [fill!], FLOAT), ...inputs.slice(2)]
}
