/** Messages as @grpc/proto-loader gives them: names as in the .proto, 64-bit numbers as text, all fields there. */

export interface GrpcParameter {
  readonly parameter_choice?: 'bool_param' | 'int64_param' | 'string_param' | 'double_param' | 'uint64_param'
  readonly bool_param?: boolean
  readonly int64_param?: string
  readonly string_param?: string
  readonly double_param?: number
  readonly uint64_param?: string
}

export type GrpcParameters = Readonly<Record<string, GrpcParameter>>

export interface GrpcContents {
  readonly bool_contents?: readonly boolean[]
  readonly int_contents?: readonly number[]
  readonly int64_contents?: readonly (string | bigint)[]
  readonly uint_contents?: readonly number[]
  readonly uint64_contents?: readonly string[]
  readonly fp32_contents?: readonly number[]
  readonly fp64_contents?: readonly number[]
  readonly bytes_contents?: readonly Uint8Array[]
}

export interface GrpcInferRequest {
  readonly model_name: string
  readonly model_version: string
  readonly id: string
  readonly parameters: GrpcParameters
  readonly inputs: readonly {
    readonly name: string
    readonly datatype: string
    readonly shape: readonly string[]
    readonly parameters: GrpcParameters
    readonly contents: GrpcContents | null
  }[]
  readonly outputs: readonly { readonly name: string; readonly parameters: GrpcParameters }[]
  readonly raw_input_contents: readonly Uint8Array[]
}

export interface GrpcInferResponse {
  readonly model_name: string
  readonly model_version: string
  readonly id: string
  readonly outputs: readonly {
    readonly name: string
    readonly datatype: string
    readonly shape: readonly number[]
    readonly contents?: GrpcContents
  }[]
  readonly raw_output_contents: readonly Uint8Array[]
}
