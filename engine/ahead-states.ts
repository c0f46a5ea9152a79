import type { Place } from '../compiler/index.js'
import { Contents } from '../compiler/memory/contents.js'
import type { AheadState } from '../formats/ptlc/module.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { ScriptObject, Value } from '../runtime/tensor/value.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { pathsOf, type StatePath } from './state-places.js'

/** Attributes of a module that calls which a file is compiled for write to, with the tensors that they had when they were found. */
export class States {
  private readonly places: Place[] = []
  private readonly states: { readonly place: Place; readonly tensor: Tensor }[] = []
  private readonly before: Contents
  /** The memory of those that were known from the beginning. */
  readonly known: ReadonlySet<Storage>

  /** `known` have what their file has. */
  constructor(
    private readonly root: ScriptObject,
    known: readonly Place[],
  ) {
    this.add(known)
    this.known = this.memory
    this.before = new Contents(this.states.map(({ tensor }) => tensor))
  }

  /** False where all were known. */
  add(places: readonly Place[]): boolean {
    const before = this.places.length
    for (const place of places) {
      if (this.places.some((other) => isSame(other, place))) continue
      const tensor = valueAt(place)
      if (tensor instanceof Tensor && this.numberOf(place) < 0) this.states.push({ place, tensor })
      this.places.push(place)
    }
    return this.places.length > before
  }

  /** Attributes with the same tensor are one state. -1 where it is none: its file has no tensor there. */
  numberOf(place: Place): number {
    const own = this.states.findIndex((state) => isSame(state.place, place))
    return own >= 0 ? own : this.states.findIndex(({ tensor }) => tensor === valueAt(place))
  }

  /** What calls may change. */
  get memory(): ReadonlySet<Storage> {
    return new Set(this.states.map(({ tensor }) => tensor.storage))
  }

  /** Gives those that were known what they held. */
  putBack(): void {
    this.before.restore()
  }

  /** Of all attributes that were found, so that they only become more from one round to the next. */
  paths(): StatePath[] {
    return pathsOf(this.root, this.places)
  }

  held(): AheadState[] {
    const paths = pathsOf(
      this.root,
      this.states.map(({ place }) => place),
    )
    return paths.map((path, i) => ({ ...path, tensor: this.states[i]!.tensor }))
  }
}

function valueAt({ object, slot }: Place): Value | undefined {
  return object.slots[slot]
}

function isSame(a: Place, b: Place): boolean {
  return a.object === b.object && a.slot === b.slot
}
