export { InferenceClient } from './client.js'
export { strings } from './decode.js'
export { InferenceError, type InferenceErrorCode } from './errors.js'
export { type DataOf, type Datatype, type NumericDatatype, type TypedData } from './datatypes.js'
export type {
  CallOptions,
  ClientOptions,
  DurationStatistics,
  IndexEntry,
  InferOptions,
  InferResult,
  Input,
  InputTensor,
  ModelMetadata,
  ModelStatistics,
  OutputTensor,
  Parameters,
  ParameterValue,
  SequenceStep,
  ServerMetadata,
  TensorLike,
  TensorMetadata,
  VersionOptions,
} from './types.js'
