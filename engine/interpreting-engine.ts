import type { ArenaUse, PlanInfo } from '../compiler/index.js'
import type { FunctionArgument, FunctionSchema } from '../program/code.js'
import type { ModelGraph } from '../program/graph-info.js'
import type { LinkedFunction } from '../program/linked.js'
import { type ArgumentInfo, inputsOf, outputsOf } from '../program/signature-info.js'
import { type MissingOperator, missingOf } from '../program/missing.js'
import { reachable } from '../program/reach.js'
import { layersInTraining, type TrainingLayer, trainingText } from '../program/training-layers.js'
import { argumentCount } from '../program/verifier.js'
import { absent, PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { ScriptObject, Value } from '../runtime/tensor/value.js'
import type { CallSettings, Engine, MethodSignature, RunSettings } from './engine.js'
import type { ScriptModule } from '../interpreter/script-module.js'
import { ModuleState } from './saved-state.js'
import { stateOf } from './module-state.js'
import * as features from '../runtime/features.js'

/** What every engine with a program has, however the code is run. */
export abstract class InterpretingEngine implements Engine {
  /** Of methods that were asked for. */
  private readonly signatures = new Map<LinkedFunction, MethodSignature>()
  private lacking: readonly MissingOperator[] | undefined

  /** Tensors that it was loaded with. */
  private readonly originals: Set<Tensor>

  constructor(protected readonly script: ScriptModule) {
    this.originals = features.background ? reachable([script.root]) : new Set()
  }

  get methods(): string[] {
    return this.script.methods.map((fn) => fn.source.method)
  }

  get operators(): string[] {
    const names = this.script.functions.flatMap((fn) => fn.operators.map((op) => op.qualifiedName))
    return [...new Set(names)].sort()
  }

  get missing(): readonly MissingOperator[] {
    // builds without advice load no model that lacks any
    if (!features.advice) return []
    return (this.lacking ??= missingOf(this.script.functions, this.script.root.typeName))
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

  get inputs(): readonly ArgumentInfo[] | null {
    const { file } = this.script
    const schema = this.forwardSchema()
    return file.inputs ?? (schema ? inputsOf(schema.args.slice(1)) : null)
  }

  get outputs(): readonly ArgumentInfo[] | null {
    const { file } = this.script
    const schema = this.forwardSchema()
    return file.outputs ?? (schema ? outputsOf(schema.returns) : null)
  }

  signature(method: string): MethodSignature {
    const fn = this.script.method(method)
    let signature = this.signatures.get(fn)
    if (signature === undefined) {
      signature = { parameters: parametersOf(fn), namedTuples: this.script.namedTuples }
      this.signatures.set(fn, signature)
    }
    return signature
  }

  /** What calls can change, but for what is in the memory of `free`, to be compared by sameState. */
  moduleState(free?: ReadonlySet<Storage>): unknown[] {
    return stateOf(this.script.root, free)
  }

  parameters(): Map<string, Tensor> {
    return this.script.parameters()
  }

  storages(): Set<Storage> {
    const { root, functions } = this.script
    return new Set([...reachable([root, ...functions.flatMap(({ source }) => source.constants)])].map(({ storage }) => storage))
  }

  /** `free`: memory that it leaves out. */
  saveState(free?: ReadonlySet<Storage>): ModuleState {
    if (!features.background) throw absent('what saves states', 'INVALID_ARGUMENT')
    return ModuleState.of(this.script.stateRoot(), this.originals, free)
  }

  loadState(state: ModuleState, free?: ReadonlySet<Storage>): void {
    if (!features.background) throw absent('what loads states', 'INVALID_ARGUMENT')
    if (!reading(() => state instanceof ModuleState))
      throw new PtliteError('INVALID_ARGUMENT', `loadState(): expected what saveState() gave, found ${kindOf(state)}`)
    ModuleState.restore(state, this.script.stateRoot(), this.originals, free)
    this.noteRestored()
  }

  /** Somebody else has put a state back. */
  noteRestored(): void {
    this.script.attributeWrites++
  }

  /** What states are saved of. */
  stateParts(): { readonly root: ScriptObject; readonly originals: Set<Tensor> } {
    return { root: this.script.stateRoot(), originals: this.originals }
  }

  setTraining(mode: boolean): void {
    this.script.setTraining(mode)
  }

  /** Modules in training mode that go by it. */
  trainingLayers(): TrainingLayer[] {
    const { functions, root, file } = this.script
    return layersInTraining(functions, root, file.plainClasses)
  }

  trainingWarning(label: string): string | null {
    const layers = this.trainingLayers()
    return layers.length === 0 ? null : trainingText(label, layers)
  }

  attribute(name: string): Value {
    return this.script.attribute(name)
  }

  plans(): PlanInfo[] {
    return []
  }

  forms(): null {
    return null
  }

  dispose(): void {
    this.script.dispose()
  }

  private forwardSchema(): FunctionSchema | null {
    return this.script.methods.find(({ source }) => source.method === 'forward')?.source.schema ?? null
  }

  abstract call(method: string, args: readonly Value[], settings: CallSettings): Value
  abstract run(method: string, args: readonly Value[], settings: RunSettings): Promise<Value>
  abstract compile(method: string, args: readonly Value[]): Promise<void>
  abstract explain(method: string, args: readonly Value[]): string
  abstract graph(method: string, args: readonly Value[], optimized: boolean): ModelGraph
  abstract arena(method: string, args: readonly Value[]): ArenaUse
}

/** What a method takes after `self`; functions without a schema take anything. */
export function parametersOf({ source }: LinkedFunction): readonly FunctionArgument[] {
  if (source.schema !== null) return source.schema.args.slice(1)
  return Array.from({ length: argumentCount(source) - 1 }, (_, i) => ({ name: `arg${i + 1}`, type: 'Any', default: undefined }))
}
