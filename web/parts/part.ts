import { PtliteError } from '../../runtime/error.js'
import { missingPart, notLoaded } from '../../runtime/native/wasm/not-loaded.js'
import { LOADERS } from './loaders.js'

/** What a part of the library gives to the others: functions by their position. */
export type Part = readonly ((...args: never[]) => unknown)[]

/**
 * Stands for runtime/part.ts in the library for browsers, where parts are modules that have to be waited for. In Node they are read when they are called,
 * as there.
 */
const parts = new Map<string, Part>()
const loading = new Map<string, Promise<void>>()

/** Each part calls this when it has been loaded. */
export function define(name: string, functions: Part): void {
  parts.set(name, functions)
}

export function has(name: string): boolean {
  return parts.has(name)
}

/** A part that is there. Throws NATIVE_LIBRARY where it has to be waited for. */
export function part(name: string): Part {
  return parts.get(name) ?? partNow(name)
}

function partNow(name: string): Part {
  requireOfHost()?.(`./${name}.js`)
  const found = parts.get(name)
  if (found !== undefined) return found
  throw notLoaded(name, `${name}.js`)
}

interface NodeModules {
  createRequire(url: string): (file: string) => unknown
}

/** Whether a part is there when it is called. */
export function isAtHand(name: string): boolean {
  return parts.has(name) || requireOfHost() !== undefined
}

/** A part that is next to nothing. */
const SMALLEST = 'background'

let found: { readonly require: ((file: string) => unknown) | undefined } | undefined

/** Of versions of Node that load modules at once, and where nothing (a loader that a tool has put in) keeps what is loaded so apart from what is imported. */
function requireOfHost(): ((file: string) => unknown) | undefined {
  if (found === undefined) {
    const require = requireOfNode()
    found = { require: require !== undefined && has(SMALLEST) ? require : undefined }
  }
  return found.require
}

/** Tries it with the smallest part. */
function requireOfNode(): ((file: string) => unknown) | undefined {
  const { process } = globalThis as unknown as {
    readonly process?: {
      readonly features?: { readonly require_module?: boolean }
      getBuiltinModule?(name: string): NodeModules | undefined
    }
  }
  if (process?.features?.require_module !== true || !import.meta.url.startsWith('file:')) return undefined
  const require = process.getBuiltinModule?.('module')?.createRequire(import.meta.url)
  try {
    require?.(`./${SMALLEST}.js`)
  } catch {
    return undefined
  }
  return require
}

/** Fulfils once these parts are there. Rejects with NATIVE_LIBRARY. */
export async function loadParts(names: Iterable<string>): Promise<void> {
  await Promise.all(Array.from(new Set(names), load))
}

function load(name: string): Promise<void> {
  if (parts.has(name)) return Promise.resolve()
  let started = loading.get(name)
  if (started === undefined) {
    started = LOADERS[name]!().then(
      () => {
        // the kernels that are apart have no functions for others
        if (!parts.has(name)) parts.set(name, [])
      },
      (cause: unknown) => {
        // the network may be there next time
        loading.delete(name)
        if (cause instanceof PtliteError) throw cause
        const message = cause instanceof Error ? cause.message : String(cause)
        const advice = 'serve dist/web/*.js of the package beside the program, or bundle that with them'
        throw new PtliteError('NATIVE_LIBRARY', `cannot load ${name}.js, a part of ptlite: ${message}; ${advice}`, { cause })
      },
    )
    loading.set(name, started)
  }
  return started
}

/** Does work that may be done anew, once more whenever a part is missing that can be waited for. */
export async function whenLoaded<T>(work: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const name = missingPart(error)
      if (name === undefined) throw error
      await loadParts([name])
    }
  }
}
