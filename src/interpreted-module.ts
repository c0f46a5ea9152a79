import type { PlanInfo } from '../compiler/index.js'
import type { FunctionArgument } from '../program/code.js'
import type { LinkedFunction } from '../program/linked.js'
import { argumentCount } from '../program/verifier.js'
import type { ScriptModule } from '../engine/interpreter/script-module.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { type Input, type Output, toOutput } from './convert.js'
import { Parameters } from './fit.js'
import { Module } from './module.js'
import { stateOf } from './module-state.js'

/** What every module with code has, however its code is run. */
export abstract class InterpretedModule extends Module {
  /** Of methods that were called. */
  private readonly parameterLists = new Map<LinkedFunction, Parameters>()

  constructor(protected readonly script: ScriptModule) {
    super()
  }

  get methods(): string[] {
    return this.script.methods.map((fn) => fn.source.method)
  }

  get operators(): string[] {
    const names = this.script.functions.flatMap((fn) => fn.operators.map((op) => op.qualifiedName))
    return [...new Set(names)].sort()
  }

  /** What calls can change, to be compared by sameState. */
  moduleState(): unknown[] {
    return stateOf(this.script.root)
  }

  get bytecodeVersion(): number {
    return this.script.file.bytecodeVersion
  }

  get operatorVersion(): number {
    return this.script.file.operatorVersion
  }

  get extraFiles(): ReadonlyMap<string, Uint8Array> {
    return this.script.file.extraFiles
  }

  parameters(): Map<string, Tensor> {
    const parameters = this.script.parameters()
    for (const t of parameters.values()) Tensor.expose(t)
    return parameters
  }

  getAttribute(name: string): Output {
    return toOutput(this.script.attribute(name))
  }

  plans(): PlanInfo[] {
    return []
  }

  dispose(): void {
    this.script.dispose()
  }

  protected fit(fn: LinkedFunction, args: readonly Input[]): Value[] {
    let parameters = this.parameterLists.get(fn)
    if (parameters === undefined) {
      parameters = new Parameters(fn.source.method, parametersOf(fn), this.script.namedTuples)
      this.parameterLists.set(fn, parameters)
    }
    return parameters.fit(args)
  }
}

/** What a method takes after `self`; functions without a schema take anything. */
export function parametersOf({ source }: LinkedFunction): readonly FunctionArgument[] {
  if (source.schema !== null) return source.schema.args.slice(1)
  return Array.from({ length: argumentCount(source) - 1 }, (_, i) => ({ name: `arg${i + 1}`, type: 'Any', default: undefined }))
}
