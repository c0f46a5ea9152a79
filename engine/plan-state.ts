import { tensorShape } from '../compiler/record/signature.js'
import type { AheadState } from '../formats/ptlc/module.js'
import * as features from '../runtime/features.js'
import { absent, PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import type { InterpretingEngine } from './interpreting-engine.js'
import { sameState } from './module-state.js'
import { ModuleState } from './saved-state.js'
import { takeState, type TakenState } from './take-state.js'

/**
 * The tensors that plans of a file read and write. The model that the file was compiled from, once it is loaded, has them in the place of its own, so that plans and
 * the model go on from what either has left.
 */
export class PlanState {
  readonly tensors: readonly Tensor[]
  private readonly memory: ReadonlySet<Storage>
  private readonly tensorSet: ReadonlySet<Tensor>
  /** Stands for a module that has them, and the loaded model where its calls have changed more. */
  private readonly root: ScriptObject
  private model: InterpretingEngine | undefined
  /** Of the model when it was loaded: what plans were made for, but for these tensors. */
  private initial: readonly unknown[] = []
  private asLoaded: ModuleState | undefined

  private readonly states: readonly TakenState[]

  constructor(
    states: readonly AheadState[],
    private readonly label: string,
  ) {
    this.states = states.map((state) => ({ ...state, form: tensorShape(state.tensor), storage: state.tensor.storage }))
    this.tensors = states.map(({ tensor }) => tensor)
    this.tensorSet = new Set(this.tensors)
    this.memory = new Set(this.tensors.map(({ storage }) => storage))
    this.root = new ScriptObject('', [], [...this.tensors])
  }

  get isEmpty(): boolean {
    return this.states.length === 0
  }

  storages(): Iterable<Storage> {
    return this.memory
  }

  /** The one that is an attribute of the module itself. */
  named(name: string): Tensor | undefined {
    return this.states.find((state) => state.slots.length === 1 && state.name === name)?.tensor
  }

  /** By dotted name. */
  byName(): Map<string, Tensor> {
    return new Map(this.states.map(({ name, tensor }) => [name, tensor]))
  }

  /** From now on the model has these tensors. Throws INVALID_FILE where it has no such attributes. */
  adopt(model: InterpretingEngine): void {
    if (features.interpreter && !this.isEmpty) {
      const { root, originals } = model.stateParts()
      const taken = takeState(root, this.states)
      if (taken === null) throw new PtliteError('INVALID_FILE', `${this.label}: what its plans keep is not in the model that it names`)
      for (const t of taken) originals.add(t)
      model.noteRestored()
      this.asLoaded = model.saveState(this.memory)
    }
    this.model = model
    this.setInitial()
  }

  /** What the model is like now is what plans are for. */
  setInitial(): void {
    this.initial = this.model!.moduleState(this.memory)
  }

  /** A call of the model has set an attribute, say, that plans know as it was, or somebody has disposed of what they keep. */
  get hasChanged(): boolean {
    for (const storage of this.memory) if (!storage.live) return true
    return this.model !== undefined && !sameState(this.model.moduleState(this.memory), this.initial)
  }

  save(): ModuleState {
    if (!features.background) throw absent('what saves states', 'INVALID_ARGUMENT')
    const parts = this.model !== undefined && this.hasChanged ? this.model.stateParts() : null
    this.setRoot(parts?.root ?? null)
    return ModuleState.of(this.root, new Set([...this.tensors, ...(parts?.originals ?? [])]))
  }

  /** Throws INVALID_ARGUMENT for what is no state of this module. */
  load(state: ModuleState): void {
    if (!features.background) throw absent('what loads states', 'INVALID_ARGUMENT')
    if (!reading(() => state instanceof ModuleState))
      throw new PtliteError('INVALID_ARGUMENT', `loadState(): expected what saveState() gave, found ${kindOf(state)}`)
    const { model } = this
    const parts = model?.stateParts()
    const isWhole = parts !== undefined && ModuleState.holds(state, parts.root)
    const originals = isWhole ? new Set([...this.tensors, ...parts.originals]) : this.tensorSet
    ModuleState.check(state, this.root, originals)
    if (model !== undefined && !isWhole && this.hasChanged) {
      model.loadState(this.asLoaded!, this.memory)
      this.setInitial()
    }
    ModuleState.restore(state, this.root, originals)
    model?.noteRestored()
  }

  private setRoot(model: Value): void {
    const { slots } = this.root
    slots.length = 0
    slots.push(...this.tensors, ...(model === null ? [] : [model]))
  }

  /** Results may be views on them. */
  free(): void {
    for (const storage of this.memory) storage.free()
  }
}
