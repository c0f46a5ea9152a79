import type { Place } from '../compiler/index.js'
import { Contents } from '../compiler/memory/contents.js'
import type { AheadState } from '../formats/ptlc/module.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { ScriptObject } from '../runtime/tensor/value.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { pathsOf, type StatePath } from './state-places.js'

/** Tensors of a module that the calls write to which a file is compiled for. */
export class States {
  private readonly places: Place[] = []
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
    this.before = new Contents(this.places.map((place) => tensorAt(place)))
  }

  /** False where all were known. */
  add(places: readonly Place[]): boolean {
    const before = this.places.length
    for (const place of places) if (this.numberOf(place) < 0) this.places.push(place)
    return this.places.length > before
  }

  /** Attributes with the same tensor are one state. -1 where it is none. */
  numberOf(place: Place): number {
    return this.places.findIndex((other) => tensorAt(other) === tensorAt(place))
  }

  /** What calls may change. */
  get memory(): ReadonlySet<Storage> {
    return new Set(this.places.map((place) => tensorAt(place).storage))
  }

  /** Gives those that were known what they held. */
  putBack(): void {
    this.before.restore()
  }

  paths(): StatePath[] {
    return pathsOf(this.root, this.places)
  }

  held(): AheadState[] {
    return this.paths().map((path, i) => ({ ...path, tensor: tensorAt(this.places[i]!) }))
  }
}

function tensorAt({ object, slot }: Place): Tensor {
  return object.slots[slot] as Tensor
}
