import * as kernels from '../../generated/kernels.js'
import type { Code } from './code.js'
import { elementwise } from './elementwise.js'
import type { Level } from './floats.js'
import { sparseProduct, type SparseStep } from './sparse.js'
import type { ElementType, Step } from './step-graph.js'

/** Dtypes by their numbers in kernels/include/ptlite_abi.h; quantized ones are their bytes. */
export const ELEMENT_TYPES: Readonly<Partial<Record<number, ElementType>>> = {
  0: 'uint8',
  1: 'int8',
  5: 'float16',
  6: 'float32',
  11: 'bool',
  12: 'int8',
  13: 'uint8',
  15: 'bfloat16',
}

/** Reads the words of a description one after the other. */
class Words {
  private at = 0
  private readonly view: DataView

  constructor(words: Uint8Array) {
    this.view = new DataView(words.buffer, words.byteOffset, words.byteLength)
  }

  int(): number {
    return this.view.getInt32(4 * this.at++, true)
  }

  float(): number {
    return this.view.getFloat32(4 * this.at++, true)
  }

  /** `count` times what `read` reads; arrays are filled in order. */
  list<T>(count: number, read: () => T): T[] {
    return Array.from({ length: count }, read)
  }

  numbers(): { alpha: number; beta: number; scale: number } {
    return { alpha: this.float(), beta: this.float(), scale: this.float() }
  }

  /** A dtype that generators know, or undefined. */
  type(): ElementType | undefined {
    return ELEMENT_TYPES[this.int()]
  }

  algorithm(): string {
    const number = this.int()
    names ??= Object.keys(kernels.JitAlgorithm)
    return names[number] ?? ''
  }
}

/** Of JitAlgorithm, by their numbers. */
let names: readonly string[] | undefined

/** Code from a description that kernels/arch/wasm/jit wrote: a kind of its CodeKind, and words. Null where none can be generated. */
export function codeOf(kind: number, description: Uint8Array): Code | null {
  const words = new Words(description)
  const level = { relaxed: words.int() !== 0 }
  return kind === 0 ? elementwiseOf(words, level) : sparseOf(words, level)
}

function elementwiseOf(words: Words, level: Level): Code | null {
  const [inputCount, stepCount, keptCount] = [words.int(), words.int(), words.int()]
  const out = words.type()
  const inputs = words.list(inputCount, () => ({ isBroadcast: words.int() !== 0, dtype: words.type() }))
  const steps = words.list(stepCount, (): Step => ({ op: words.algorithm(), a: words.int(), b: words.int(), ...words.numbers() }))
  const kept = words.list(keptCount, () => ({ step: words.int(), dtype: words.type() }))
  if (out === undefined || !inputs.every(isKnown) || !kept.every(isKnown)) return null
  return elementwise({ inputs, steps, out, kept }, level)
}

function isKnown<T extends { readonly dtype: ElementType | undefined }>(value: T): value is T & { readonly dtype: ElementType } {
  return value.dtype !== undefined
}

function sparseOf(words: Words, level: Level): Code | null {
  const [isChannelMajor, rows, turns, hasBias, hasHalves, stepCount] = words.list(6, () => words.int()) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const accesses = Object.keys(kernels.JitAccess)
  const steps = words.list(stepCount, (): SparseStep => {
    const op = words.algorithm()
    return { op, access: accesses[words.int()] as SparseStep['access'], ...words.numbers() }
  })
  const product = { isChannelMajor: isChannelMajor !== 0, rows, turns, hasBias: hasBias !== 0, hasHalves: hasHalves !== 0, steps }
  return sparseProduct(product, level)
}
