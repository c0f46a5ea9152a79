import { CODE, type Body, KIND, type LinkedModule, RELOCATION, SECTION } from './linked-module.js'
import { Reader } from './reader.js'

/** A global that is computed, or of another type, is none that the linker makes. */

/** Functions of a module by their numbers, of which imports have the first. */
export class LinkedFunctions {
  readonly imported: number

  constructor(readonly module: LinkedModule) {
    this.imported = module.imports.filter(({ kind }) => kind === KIND.function).length
  }

  get code(): Uint8Array {
    return this.section(SECTION.code)
  }

  section(id: number): Uint8Array {
    return this.module.sections.get(id)!
  }

  body(index: number): Body {
    return this.module.bodies[index - this.imported]!
  }

  type(index: number): number {
    if (index >= this.imported) return this.module.types[index - this.imported]!
    const { description } = this.module.imports.filter(({ kind }) => kind === KIND.function)[index]!
    return new Reader(description).number()
  }

  /** How many parameters functions of a type have. */
  parameters(type: number): number {
    const reader = new Reader(this.section(SECTION.type))
    return reader.list(() => {
      // func
      reader.byte()
      const parameters = reader.take(reader.number()).length
      reader.take(reader.number())
      return parameters
    })[type]!
  }

  /** Type and mutability of a global. */
  globalType(index: number): Uint8Array {
    const reader = new Reader(this.section(SECTION.global))
    return reader.list(() => {
      const type = reader.take(2)
      if (reader.byte() !== CODE.int32) throw new Error('a global that is no number of 32 bits')
      reader.signed()
      if (reader.byte() !== CODE.end) throw new Error('a global that is computed')
      return type
    })[index]!
  }

  /** Globals that a function names. */
  globals(index: number): number[] {
    return this.body(index)
      .relocations.filter(({ type }) => type === RELOCATION.globalIndex)
      .map(({ at }) => new Reader(this.code, at).number())
  }

  /** The function of a symbol. */
  named(symbol: number): number {
    const named = this.module.symbols[symbol]!
    if (named.kind !== 'function') throw new Error('a call of something that is no function')
    return named.index
  }

  /** Functions that a function calls by their numbers. */
  called(index: number): number[] {
    return this.body(index)
      .relocations.filter(({ type }) => type === RELOCATION.functionIndex)
      .map(({ index: symbol }) => this.named(symbol))
  }
}
