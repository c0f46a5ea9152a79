import type { Duration } from '../models/statistics.js'
import type { ServedModel } from '../models/served-model.js'
import { filledIn } from '../models/learned.js'
import type { TensorInfo } from '../models/signature.js'
import { SERVE_VERSION } from '../version.js'

/** Extensions of the protocol that the server has, by the names that clients know them by. */
export const EXTENSIONS = [
  'classification',
  'sequence',
  'sequence(string_id)',
  'model_repository',
  'schedule_policy',
  'binary_tensor_data',
  'parameters',
  'statistics',
] as const

export function serverMetadata(): { name: string; version: string; extensions: readonly string[] } {
  return { name: 'ptlite', version: SERVE_VERSION, extensions: EXTENSIONS }
}

export interface TensorMetadata {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
}

/** What a model takes and gives, as far as its file, its config and the first request have said; a tensor that nothing is known of has no datatype. */
export function modelMetadata(
  { name, facts, learned }: ServedModel,
  versions: readonly string[],
): {
  name: string
  versions: readonly string[]
  platform: string
  inputs: TensorMetadata[]
  outputs: TensorMetadata[]
} {
  const inputs = tensors(filledIn(facts.inputs, learned?.inputs))
  return { name, versions, platform: 'pytorch_torchscript', inputs, outputs: tensors(filledIn(facts.outputs, learned?.outputs)) }
}

function tensors(all: readonly TensorInfo[]): TensorMetadata[] {
  return all.map(({ name, datatype, shape }) => ({ name, datatype: datatype ?? '', shape: shape ?? [-1] }))
}

/** The numbers of one version of a model. */
export function statisticsOf({ name, version, statistics }: ServedModel): {
  name: string
  version: string
  last_inference: number
  inference_count: number
  execution_count: number
  inference_stats: Readonly<Record<string, Duration>>
  response_stats: Readonly<Record<string, never>>
  batch_stats: readonly ({ readonly batch_size: number } & Readonly<
    Record<'compute_input' | 'compute_infer' | 'compute_output', Duration>
  >)[]
  memory_usage: readonly never[]
} {
  const { lastInference, inferenceCount, executionCount, success, fail, queue, computeInput, computeInfer, computeOutput, batches } =
    statistics
  const none = { count: 0, ns: 0 }
  return {
    ...{ name, version, last_inference: lastInference, inference_count: inferenceCount, execution_count: executionCount },
    inference_stats: {
      ...{ success, fail, queue, compute_input: computeInput, compute_infer: computeInfer, compute_output: computeOutput },
      ...{ cache_hit: none, cache_miss: none },
    },
    response_stats: {},
    batch_stats: [...batches].sort(([a], [b]) => a - b).map(([batch_size, each]) => ({ batch_size, ...each })),
    memory_usage: [],
  }
}
