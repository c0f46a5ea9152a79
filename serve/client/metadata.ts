import { list, object, parseJson, text } from './decode.js'
import {
  type DurationStatistics,
  type IndexEntry,
  type ModelMetadata,
  type ModelStatistics,
  type ServerMetadata,
  type TensorMetadata,
} from './types.js'

/** Whether an answer of a health endpoint says so; some servers say it by the status alone. */
export function isSaidToBe(key: string, body: Uint8Array): boolean {
  let answer: unknown
  try {
    answer = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return true
  }
  if (typeof answer !== 'object' || answer === null) return answer !== false
  // the specification's own text has `live` for both
  const said = (answer as Record<string, unknown>)[key]
  return said !== false
}

export function serverMetadata(body: Uint8Array): ServerMetadata {
  const { name, version, extensions = [] } = object(parseJson(body), 'it')
  return {
    name: text(name, 'name'),
    version: text(version, 'version'),
    extensions: list(extensions, 'extensions').map((each) => text(each, 'an extension')),
  }
}

export function modelMetadata(body: Uint8Array): ModelMetadata {
  const { name, versions = [], platform, inputs, outputs } = object(parseJson(body), 'it')
  return {
    name: text(name, 'name'),
    versions: list(versions ?? [], 'versions').map((each) => text(each, 'a version')),
    platform: text(platform, 'platform'),
    inputs: list(inputs, 'inputs').map(tensorMetadata),
    outputs: list(outputs, 'outputs').map(tensorMetadata),
  }
}

function tensorMetadata(value: unknown): TensorMetadata {
  const { name, datatype, shape } = object(value, 'a tensor')
  return { name: text(name, 'the name of a tensor'), datatype: text(datatype, 'a datatype'), shape: list(shape, 'a shape').map(Number) }
}

export function indexEntries(body: Uint8Array): IndexEntry[] {
  return list(parseJson(body), 'the index').map((value) => {
    const { name, version, state, reason } = object(value, 'an entry of the index')
    return {
      name: text(name, 'the name of a model'),
      version: version === undefined || version === null || version === '' ? undefined : text(version, 'a version'),
      // Triton leaves out what has nothing to say
      state: text(state ?? '', 'a state'),
      reason: text(reason ?? '', 'a reason'),
    }
  })
}

export function modelStatistics(body: Uint8Array): ModelStatistics[] {
  return list(object(parseJson(body), 'it')['model_stats'], 'model_stats').map((value) => {
    const all = object(value, 'statistics of a model')
    return {
      name: text(all['name'], 'the name of a model'),
      version: all['version'] === undefined ? undefined : text(all['version'], 'a version'),
      lastInference: Number(all['last_inference'] ?? 0),
      inferenceCount: Number(all['inference_count'] ?? 0),
      executionCount: Number(all['execution_count'] ?? 0),
      inference: Object.fromEntries(
        Object.entries(object(all['inference_stats'] ?? {}, 'inference_stats')).map(([key, each]) => [key, duration(each)]),
      ),
      batches: list(all['batch_stats'] ?? [], 'batch_stats').map((each) => {
        const batch = object(each, 'statistics of a batch size')
        return { size: Number(batch['batch_size']), computeInfer: duration(batch['compute_infer'] ?? {}) }
      }),
    }
  })
}

function duration(value: unknown): DurationStatistics {
  const { count = 0, ns = 0 } = object(value, 'a duration')
  return { count: Number(count), ns: Number(ns) }
}
