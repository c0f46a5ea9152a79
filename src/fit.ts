import { PtliteError } from '../runtime/error.js'
import type { FunctionArgument } from '../runtime/interpreter/code.js'
import { type NamedTuples, parseType, type TypeNode } from '../runtime/interpreter/types.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { type Input, toTyped } from './convert.js'

/** Fits arguments to what a method declares. */
export class Parameters {
  /** Parsed when they are first needed. */
  private readonly types: TypeNode[] = []

  /** `parameters` are those after `self`. */
  constructor(
    private readonly method: string,
    private readonly parameters: readonly FunctionArgument[],
    private readonly namedTuples: NamedTuples,
  ) {}

  /** The values of a call, defaults included. Throws INVALID_ARGUMENT naming the argument. */
  fit(args: readonly Input[]): Value[] {
    const { method, parameters } = this
    if (args.length > parameters.length) {
      throw new PtliteError('INVALID_ARGUMENT', `${method}() takes ${parameters.length} arguments, found ${args.length}`)
    }
    return parameters.map((parameter, i) => {
      const arg = args[i]
      // most arguments; texts for errors are made for the others only
      if (arg instanceof Tensor && this.typeOf(i).name === 'Tensor') return arg
      if (i < args.length) return toTyped(args[i], this.typeOf(i), `${method}() argument ${i + 1} (${parameter.name})`)
      if (parameter.default !== undefined) return parameter.default
      const missing = parameters.slice(i).filter((p) => p.default === undefined)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `${method}() needs ${missing.map((p) => `${p.name}: ${p.type}`).join(', ')}; found ${args.length} arguments`,
      )
    })
  }

  private typeOf(argument: number): TypeNode {
    return (this.types[argument] ??= parseType(this.parameters[argument]!.type, this.namedTuples))
  }
}
