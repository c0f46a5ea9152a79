import type { ArgumentInfo } from '../../program/signature-info.js'
import { arrayTypeOf } from '../../runtime/tensor/data.js'
import { dtypeFromName, type DTypeName, isFloating } from '../../runtime/tensor/dtype.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { check, PtliteError } from '../../runtime/error.js'
import { checkText, reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import type { Input } from '../values/convert.js'
import { Module } from '../module.js'
import { bundledInputs, guessInputs, randomNumbers } from './guess.js'

/** Elements beyond which arguments are not made up. */
export const MAX_ELEMENTS = 2 ** 28

/** Arguments for a method, to try a model with. */
export interface SuggestedInputs {
  /** In the order of the method's schema, without `self`. */
  readonly args: readonly Input[]
  /** Where they come from, for people. */
  readonly source: string
}

/**
 * Arguments that a method takes: those bundled with the model, else tensors of the sizes that its file declares, else a guess from its weights, for
 * which the method is called with one shape after the other. Floats are random, the same each time; whole numbers, which may be positions in a table, are 0.
 * null where none is found. May take as long as some calls of the method. Throws UNKNOWN_METHOD, and INVALID_ARGUMENT for what is no module.
 */
export function suggestInputs(module: Module, method = 'forward'): SuggestedInputs | null {
  check(
    reading(() => module instanceof Module),
    () => `suggestInputs(): expected a module, found ${kindOf(module)}`,
  )
  checkText(method, 'the name of a method')
  if (!module.methods.includes(method))
    throw new PtliteError('UNKNOWN_METHOD', `the module has no method '${method.slice(0, 100)}'; it has ${module.methods.join(', ')}`)
  if (method === 'forward') {
    const known = bundledInputs(module) ?? declaredInputs(module)
    if (known !== null) return known
  }
  return guessInputs(module, method, [...module.parameters().values()])
}

/** Arguments of forward of the sizes that the file declares; null where it does not, or leaves something open. */
export function declaredInputs({ inputs }: Pick<Module, 'inputs'>): SuggestedInputs | null {
  if (inputs?.length === 0) return { args: [], source: 'no arguments' }
  const declared = inputs === null ? null : argumentsOf(inputs)
  return declared === null ? null : { args: declared, source: 'random, of the sizes that the file declares' }
}

/** Tensors of the sizes that a file declares, the smallest where they may differ; null where it leaves something open. */
function argumentsOf(inputs: readonly ArgumentInfo[]): Input[] | null {
  const args: Input[] = []
  for (const { name, dtype, shape, constant } of inputs) {
    // values in structures have their place in the name
    if (/[[.]/.test(name)) return null
    if (constant !== undefined) args.push(constant)
    else if (dtype === undefined || shape === undefined) return null
    else {
      // of nothing there is nothing to try
      const sizes = shape.map(({ min, max }) => Math.max(min, Math.min(1, max ?? 1)))
      if (sizes.reduce((a, b) => a * b, 1) > MAX_ELEMENTS) return null
      args.push(madeUp(dtype, sizes))
    }
  }
  return args
}

/** Random floats, and zeros of other dtypes. */
export function madeUp(name: DTypeName, shape: readonly number[]): Tensor {
  const type = dtypeFromName(name)
  const length = shape.reduce((a, b) => a * b, 1)
  if (isFloating(type)) {
    const t = Tensor.fromStorage(randomNumbers(length), { dtype: 'float32', shape })
    return name === 'float32' ? t : t.to(name)
  }
  return Tensor.fromStorage(new (arrayTypeOf(type))(length) as never, { dtype: name, shape })
}
