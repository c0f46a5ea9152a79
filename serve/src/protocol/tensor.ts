import type { Datatype, ElementArray } from './datatypes.js'

/** A tensor on its way to or from a model. */
export interface WireTensor {
  readonly datatype: Datatype
  readonly shape: readonly number[]
  /** Elements in row-major order: of BYTES a list of byte strings, of all others numbers. */
  readonly data: ElementArray | readonly Uint8Array[]
}

export interface NamedTensor extends WireTensor {
  readonly name: string
}

export type Parameter = string | number | boolean

/** An output as a request asks for it. */
export interface RequestedOutput {
  readonly name: string
  readonly binary: boolean
  /** Likeliest classes in place of the values; 0 for the values. */
  readonly classification: number
}

/** A request for inference, however it came. */
export interface InferRequest {
  readonly id: string | undefined
  readonly parameters: Readonly<Record<string, Parameter>>
  readonly inputs: readonly NamedTensor[]
  /** null: all of them. */
  readonly outputs: readonly RequestedOutput[] | null
  /** What holds for outputs that do not say. */
  readonly binaryOutput: boolean
}
