import { absent, PtliteError } from '../runtime/error.js'
import type { Engine, MethodSignature } from '../engine/engine.js'
import type { TypeNode } from '../program/types.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { noteUse } from '../runtime/traced-parts.js'
import { checkList, reading } from '../runtime/tensor/check-arguments.js'
import { type Input, mismatch } from './values/convert.js'
import { parameterType, toTyped } from './values/coerce.js'
import { adoptedTensor } from './values/foreign.js'
import * as features from '../runtime/features.js'

/** Fits arguments to what a method declares. */
export class Parameters {
  /** Parsed when they are first needed. */
  private readonly types: TypeNode[] = []

  constructor(
    private readonly method: string,
    private readonly signature: MethodSignature,
  ) {}

  /** The values of a call, defaults included. Throws INVALID_ARGUMENT naming the argument. */
  fit(args: readonly Input[]): Value[] {
    checkList(args, `the arguments of ${this.method}()`)
    return reading(() => this.valuesOf(args))
  }

  private valuesOf(args: readonly Input[]): Value[] {
    const { method, signature } = this
    const { parameters } = signature
    if (args.length > parameters.length) {
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `${method}() takes ${parameters.length} argument${parameters.length === 1 ? '' : 's'}, found ${args.length}`,
      )
    }
    return parameters.map((parameter, i) => {
      if (i < args.length) return parameter.type === 'Tensor' ? this.tensorAt(i, args[i]) : this.valueAt(i, args[i])
      if (parameter.default !== undefined) return parameter.default
      const missing = parameters.slice(i).filter((p) => p.default === undefined)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `${method}() needs ${missing.map((p) => `${p.name}: ${p.type}`).join(', ')}; found ${args.length} arguments`,
      )
    })
  }

  private tensorAt(i: number, arg: Input): Tensor {
    if (arg instanceof Tensor && Tensor.isOne(arg)) return Tensor.argument(arg)
    const copy = typeof arg === 'object' && arg !== null ? adoptedTensor(arg) : undefined
    if (copy !== undefined) return copy
    throw mismatch(this.placeOf(i), 'Tensor', arg)
  }

  private valueAt(i: number, arg: Input): Value {
    if (!features.coercion) throw absent(`${this.placeOf(i)}: an argument that is not a tensor`, 'INVALID_ARGUMENT')
    noteUse('arguments')
    const { parameters, namedTuples } = this.signature
    return toTyped(arg, (this.types[i] ??= parameterType(parameters[i]!.type, namedTuples)), this.placeOf(i))
  }

  /** For errors. */
  private placeOf(i: number): string {
    return `${this.method}() argument ${i + 1} (${this.signature.parameters[i]!.name})`
  }
}

/** What fits arguments to a method. */
export function parametersFor(method: string, signature: MethodSignature): Parameters {
  return new Parameters(method, signature)
}

/** The values of a call of a method, once. Throws UNKNOWN_METHOD or INVALID_ARGUMENT. */
export function fitArguments(engine: Engine, method: string, args: readonly Input[]): Value[] {
  return new Parameters(method, engine.signature(method)).fit(args)
}
