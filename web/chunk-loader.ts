import { type ChunkName, setChunkLoader } from '../runtime/chunk.js'
import { PtliteError } from '../runtime/error.js'

/* Chunks in browsers, which have to be waited for: stands for chunks/all.ts. What is needed together comes together. */

const LOADERS: Readonly<Record<ChunkName, () => Promise<unknown>>> = {
  operators: () => import('../chunks/operators.js'),
  'more-operators': () => import('../chunks/more-operators.js'),
  model: () => Promise.all([import('../chunks/operators.js'), import('../chunks/model.js')]),
  plans: () => import('../chunks/plans.js'),
  // passes write operators that no file has
  compiler: () => Promise.all([import('../chunks/plans.js'), import('../chunks/more-operators.js'), import('../chunks/compiler.js')]),
  formats: () => import('../chunks/formats.js'),
  background: () => import('../chunks/background.js'),
  media: () => import('../chunks/media.js'),
}

/** Rejects with NATIVE_LIBRARY. */
export async function loadChunk(name: ChunkName): Promise<void> {
  try {
    await LOADERS[name]()
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const advice = 'serve dist/web/*.js of the package beside the program, or bundle that with them'
    throw new PtliteError('NATIVE_LIBRARY', `cannot load ${name}.js, a part of ptlite: ${message}; ${advice}`, { cause })
  }
}

/** All there are. */
export async function loadChunks(): Promise<void> {
  await Promise.all((Object.keys(LOADERS) as ChunkName[]).map(loadChunk))
}

interface NodeModules {
  createRequire(url: string): (file: string) => unknown
}

/** Loads modules at once: of versions of Node that can. */
function requireOfNode(): ((file: string) => unknown) | undefined {
  const { process } = globalThis as unknown as {
    readonly process?: {
      readonly features?: { readonly require_module?: boolean }
      getBuiltinModule?(name: string): NodeModules | undefined
    }
  }
  if (process?.features?.require_module !== true || !import.meta.url.startsWith('file:')) return undefined
  return process.getBuiltinModule?.('module')?.createRequire(import.meta.url)
}

setChunkLoader({
  now(name) {
    const require = requireOfNode()
    if (require !== undefined) {
      require(`./${name}.js`)
      return
    }
    throw new PtliteError(
      'NATIVE_LIBRARY',
      `this needs a part of ptlite that has not been loaded yet (${name}.js): \`await ready()\` of 'ptlite/web' first, or \`await ready({ for: [...] })\` with the names of the operators and functions that are called outside of models`,
    )
  },
  later: loadChunk,
})
