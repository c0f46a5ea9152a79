import { kernelsReady } from '../runtime/native/wasm/library.js'
import { checkOptions, reading } from '../runtime/tensor/check-arguments.js'
import { namesReady } from './parts/ready.js'

const isName = (name: unknown): boolean => typeof name === 'string'
const namesTest = (value: unknown): string | null =>
  Array.isArray(value) && value.every(isName) ? null : 'names of operators and functions, in an array'

/** What is waited for. */
export interface ReadyOptions {
  /**
   * Names of what is called outside of models: operators (`aten::softmax.int`), and functions of the library (`imageToTensor`). Without it everything is
   * loaded that there is; with it kernels, tensors and their methods, and what is named.
   */
  readonly for?: readonly string[]
}

/**
 * Fulfils once tensors can be made, and operators and functions be called outside of models; loadModule waits itself for all that a model needs. Rejects with
 * NATIVE_LIBRARY, UNSUPPORTED_HOST, and MISSING_OPERATOR for names that there are not.
 */
export async function ready(options: ReadyOptions = {}): Promise<void> {
  const names = reading(() => {
    checkOptions(options, { for: namesTest }, 'ready()')
    return options.for === undefined ? undefined : [...options.for]
  })
  await Promise.all([kernelsReady(), namesReady(names)])
}
