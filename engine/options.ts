import type { CompileMode } from '../compiler/index.js'
import type { ReadLimits } from '../formats/reading/read-options.js'
import type { Limits } from '../runtime/limits.js'
import type { Profiler } from '../interpreter/profile.js'

/** How much of a model has come. */
export interface LoadProgress {
  /** Bytes that are there. */
  readonly loaded: number
  /** Of all of it, where that is known. */
  readonly total: number | undefined
}

/** What of the Cache API is needed. */
export interface CacheLike {
  /** What is kept of an address, as `Cache.match`. */
  match(address: string): Promise<Response | undefined>
  /** Keeps an answer, as `Cache.put`. */
  put(address: string, response: Response): Promise<void>
  /** Forgets an address, as `Cache.delete`. */
  delete(address: string): Promise<boolean>
}

/** How a model is loaded. */
export interface LoadOptions {
  /**
   * 'auto', the default: a method that is called again with arguments of the same form (shapes, dtypes, other values) is compiled, and
   * replayed from then on. 'eager': compiled at its first call. 'off': every call is interpreted.
   */
  readonly compile?: CompileMode
  /**
   * false: compiled calls compute 3x3 convolutions as their definition says, as they do with PTLITE_WINOGRAD=0 in the environment. By default larger ones use Winograd's F(4x4, 3x3), which
   * takes a third of the time and is within 2e-5 of the largest value (docs/compiler.md).
   */
  readonly winograd?: boolean
  /**
   * false: a file is read into memory of its own instead of being mapped, for files that others may write to: it takes the time to read it and
   * its size in memory for each process. Without it weights are used in place, and processes share them.
   */
  readonly map?: boolean
  /**
   * true: the checksums of tensors in a `.ptl` file are checked, too: INVALID_FILE where they are damaged. It reads all of the file, which takes about
   * half a millisecond for each megabyte. Those of programs and attributes are always checked; `.ff` files have none.
   */
  readonly verify?: boolean
  /**
   * true: the module and its submodules leave training mode, which many files are saved in: as `module.eval()` does, and without a word about it.
   */
  readonly eval?: boolean
  /**
   * true: a file with an operator that this build lacks is refused, with MISSING_OPERATOR, whatever calls it. false: none is. Without it that is so where `forward`, or
   * any method of a file without one, comes to such an operator on every path; elsewhere `module.missing` names them, and a call that comes to one throws.
   */
  readonly strict?: boolean
  /**
   * Rounds float32 weights of linear layers, of products with a matrix, of convolutions and of embeddings, where these first read them: to 16-bit floats, or to integers of 8 or 4 bits
   * with scales of the least squared error. They take a half to an eighth of the memory, and of the time where that is what reading them takes
   * (docs/weights.md). Not for `.ptlc` files, which have what they were compiled with.
   */
  readonly weights?: 'int8' | 'int4' | 'bfloat16' | 'float16'
  /**
   * Numbers of a row of a weight that share a scale: 32, 64, 128 or 256, for 'int8' and 'int4'. By default a row of 'int8' has one scale, and 'int4' groups of 32.
   */
  readonly group?: number
  /** true for weights that stay as they are: asked once for each matrix or filter, by its dotted name in the module, '' where it has none, and its sizes. */
  readonly keep?: (name: string, shape: readonly number[]) => boolean
  /**
   * What integer weights are multiplied with: 'int8', the default, rounds 32 numbers of each row at a time to signed bytes by their largest magnitude;
   * 'float' takes them as they are, which is slower. Bfloat16 weights are multiplied with 'float', the default, or with numbers rounded to 'bfloat16', which is
   * faster for many rows on processors that multiply pairs of these.
   */
  readonly activations?: 'int8' | 'float' | 'bfloat16'
  /**
   * Keeps caches of keys and values, which the module has as buffers of floats, in fewer bits: as 16-bit floats, or as integers of 8 bits with a scale for each row, the largest magnitude of its numbers divided by
   * 127. Rows are rounded where they are written, and read as they lie. INVALID_ARGUMENT for programs without such a cache (docs/weights.md). Of `.ptlc` files, which have what they were compiled with, for another format.
   */
  readonly kvCache?: 'int8' | 'bfloat16' | 'float16'
  /** Files with data that belong to the model, as paths or bytes: the `.ptd` files of a `.pte`. One beside the model with its name is found without. */
  readonly data?: readonly (string | Uint8Array | ArrayBuffer)[]
  /** Told of each piece of a model that comes in pieces (from an address, a stream, a `Response`, a `Blob`), and of one that was kept. */
  readonly onProgress?: (progress: LoadProgress) => void
  /**
   * Where a model from an address is kept, so that it comes once: a directory in Node, the name of a cache of the Cache API in browsers, or what does as a cache. The server is asked whether it is still the
   * same (`ETag` or `Last-Modified`); where it cannot be reached, what is kept is used. What has come of a model that broke off is not asked for again.
   */
  readonly cache?: string | CacheLike
  /** What the model's bytes must be: `sha256-` and their SHA-256 in base64. INVALID_FILE where they are others. */
  readonly integrity?: string
  /** Gives the load up once it is aborted, with ABORTED, whose cause is its reason: while bytes are waited for, and between the steps of reading them. */
  readonly signal?: AbortSignal
  /** Receives what the model warns about, and that it is in training mode, once, where it has layers that go by that; the console by default. */
  readonly onWarning?: (text: string) => void
  /**
   * What the code that loading runs may take, and each call of the module that does not say otherwise: LIMIT_EXCEEDED beyond. Loading has limits
   * without, too (docs/limits.md), and one more, `objects`, for what the file's values take.
   */
  readonly limits?: Limits & ReadLimits
  /** Loop iterations and backward jumps after which a call is given up with LIMIT_EXCEEDED; unlimited by default. */
  readonly maxIterations?: number
}

/** Who is told of what a load finds. */
export function warningsTo({ onWarning }: Pick<LoadOptions, 'onWarning'>): (text: string) => void {
  return onWarning ?? ((text) => console.warn(`ptlite: ${text}`))
}

/** How a call is made. */
export interface CallOptions {
  /** Collects every operator call, which makes the call be interpreted, or every kernel call of its plan; of a `.ptlc` file always that. */
  readonly profiler?: Profiler
  /** What the call may take, in place of what its module's limits say: LIMIT_EXCEEDED beyond. */
  readonly limits?: Limits
  /**
   * 'last': of the result, or of the first tensor in it (`logits` in a dict), the last row alone is given, [..., 1, columns] of [..., rows, columns]; what only other rows
   * need is not computed by plans. For the prompt of a language model, of which the next token's logits are wanted. By default everything is given.
   */
  readonly outputs?: 'last'
}

/** How a run is made. */
export interface RunOptions {
  /** Gives the run up once it is aborted: in the middle of loops and large kernels, too. */
  readonly signal?: AbortSignal
  /** What the run may take, in place of what its module's limits say: LIMIT_EXCEEDED beyond. Time that it waits for its turn does not count. */
  readonly limits?: Limits
  /**
   * 'last': of the result, or of the first tensor in it (`logits` in a dict), the last row alone is given, [..., 1, columns] of [..., rows, columns]; what only other rows
   * need is not computed by plans. For the prompt of a language model, of which the next token's logits are wanted. By default everything is given.
   */
  readonly outputs?: 'last'
}
