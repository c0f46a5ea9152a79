import type { DType } from '../../runtime/tensor/dtype.js'
import type { Rounding } from '../../runtime/tensor/storage.js'
import type { Quant } from '../../runtime/tensor/tensor.js'

/** An object by its number. Objects that the main thread made have positive numbers, those of the worker negative ones. */
export interface Ref {
  readonly ref: number
}

/** A value as it crosses threads: primitives as they are, everything else by number. */
export type Encoded = null | undefined | boolean | number | bigint | string | Ref

/** What an object holds. Tensors and storages cross as addresses, which mean the same in every thread. */
export type Body =
  | {
      readonly kind: 'storage'
      readonly address: number
      readonly bytes: number
      readonly version: number
      readonly rounding: Rounding | undefined
      readonly derived: readonly { readonly key: string; readonly version: number; readonly storage: Ref }[]
    }
  | {
      readonly kind: 'tensor'
      readonly storage: Ref
      readonly offset: number
      readonly shape: readonly number[]
      readonly strides: readonly number[]
      readonly type: DType
      readonly quant: Quant | null
    }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'complex'; readonly re: number; readonly im: number }
  | { readonly kind: 'list'; readonly items: readonly Encoded[]; readonly elementType: string | undefined }
  | { readonly kind: 'tuple'; readonly items: readonly Encoded[]; readonly fields: readonly string[] | undefined }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Encoded, Encoded])[] }
  | { readonly kind: 'object'; readonly typeName: string; readonly names: readonly string[]; readonly slots: readonly Encoded[] }
  | { readonly kind: 'custom'; readonly className: string; readonly state: Encoded; readonly isGenerator: boolean }
  | { readonly kind: 'device'; readonly type: string; readonly index: number | null }

export interface Node {
  readonly id: number
  readonly body: Body
}

/** A value with the objects that the other thread does not know yet, and those it knows whose contents changed. */
export interface Parcel {
  readonly value: Encoded
  readonly nodes: readonly Node[]
}
