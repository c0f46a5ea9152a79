import type { ChunkName } from '../runtime/chunk.js'
import { kernelsReady } from '../runtime/native/wasm/library.js'
import { checkOptions, reading } from '../runtime/tensor/check-arguments.js'
import type * as library from '../src/index.js'
import { FUNCTIONS as TENSOR_FUNCTIONS, METHODS } from '../src/values/generated/tensor-methods.js'
import { rowsOf } from '../src/values/method-table.js'
import { loadChunk, loadChunks } from './chunk-loader.js'

const isName = (name: unknown): boolean => typeof name === 'string'
const namesTest = (value: unknown): string | null =>
  Array.isArray(value) && value.every(isName) ? null : 'names of operators and functions, in an array'

/** The chunks of functions that are in others than operators are. */
const CHUNKS: Readonly<Partial<Record<keyof typeof library, ChunkName>>> = {
  ...{
    imageToTensor: 'media',
    tensorToImage: 'media',
    melSpectrogram: 'media',
    readWav: 'media',
    writeWav: 'media',
    resampleAudio: 'media',
  },
  ...{ generate: 'media', openSession: 'media', loadTokenizer: 'media' },
  ...{ transcribe: 'media', ctcDecode: 'media', readArpa: 'media' },
  ...{ embed: 'media', nearestVectors: 'media', roundVectors: 'media' },
  ...{ inspectModel: 'formats', suggestInputs: 'formats', startTracing: 'formats', stopTracing: 'formats' },
  ...{ custom: 'more-operators', registerOperator: 'more-operators', operators: 'more-operators' },
}

/** What is waited for. */
export interface ReadyOptions {
  /**
   * Names of what is called outside of models: operators (`aten::softmax.int`), methods of tensors (`std`), and functions of the library (`imageToTensor`). Without it
   * everything is loaded that there is; with it kernels, tensors, what most models call, and what is named.
   */
  readonly for?: readonly string[]
}

/**
 * Fulfils once tensors can be made, and operators and functions be called outside of models; loadModule waits itself for all that a model needs. Rejects with
 * NATIVE_LIBRARY, UNSUPPORTED_HOST, and MISSING_OPERATOR for unknown names.
 */
export async function ready(options: ReadyOptions = {}): Promise<void> {
  const names = reading(() => {
    checkOptions(options, { for: namesTest }, 'ready()')
    return options.for === undefined ? undefined : [...options.for]
  })
  await Promise.all([kernelsReady(), names === undefined ? loadChunks() : namesReady(names)])
}

async function namesReady(names: readonly string[]): Promise<void> {
  const chunks = names.flatMap((name) => (Object.hasOwn(CHUNKS, name) ? [CHUNKS[name as keyof typeof CHUNKS]!] : []))
  await Promise.all([...new Set<ChunkName>(['operators', ...chunks])].map(loadChunk))
  const others = names.filter((name) => !FUNCTIONS.has(name)).flatMap(operatorsOf)
  if (others.length === 0) return
  const { operatorsReady } = await import('./names-ready.js')
  await operatorsReady(others)
}

/** What a method of tensors, or a function that makes them, calls; any other name is an operator's. */
function operatorsOf(name: string): readonly string[] {
  const row = rowsOf(METHODS).get(name) ?? rowsOf(TENSOR_FUNCTIONS).get(name)
  return row === undefined ? [name] : row.map((operator) => operator.name)
}

/** Those that `ready` may be given, and that no operator is meant by. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...Object.keys(CHUNKS),
  ...(['callOperator', 'tensor', 'loadModule', 'Module', 'Tensor'] satisfies (keyof typeof library)[]),
])
