import { PtliteError } from './error.js'

/*
 * The library comes in chunks, each of which is a file of the built package (chunks/): what a program does not use it does not load. Sources that are run as
 * they are, and bundles of one file, have all of them from the beginning.
 */

export type ChunkName = 'operators' | 'more-operators' | 'model' | 'plans' | 'compiler' | 'formats' | 'background' | 'media'

/** What loads a chunk, which provides its functions then. */
export interface ChunkLoader {
  /** In the middle of a call; throws where chunks have to be waited for. */
  now(name: ChunkName): void
  /** Where chunks have to be waited for. */
  later?(name: ChunkName): Promise<void>
}

/** undefined where nothing has to be waited for. */
export type Waiting = Promise<void> | undefined

const provided = new Set<ChunkName>()
const loading = new Map<ChunkName, Promise<void>>()
let loader: ChunkLoader = {
  now(name) {
    throw new PtliteError('INTERNAL', `chunks/${name} was not imported`)
  },
}

/** Says how chunks are loaded. */
export function setChunkLoader(other: ChunkLoader): void {
  loader = other
}

/** Whether nothing has to be waited for before a chunk is called. */
function isCallable(name: ChunkName): boolean {
  return provided.has(name) || loader.later === undefined
}

/** Waits for a chunk where it cannot be loaded in the middle of a call. */
export function chunkReady(name: ChunkName): Waiting {
  if (isCallable(name)) return undefined
  let started = loading.get(name)
  if (started === undefined) {
    started = loader.later!(name).catch((error: unknown) => {
      // the network may be there next time
      loading.delete(name)
      throw error
    })
    loading.set(name, started)
  }
  return started
}

/** Gives the functions of a chunk, which is loaded for that where it has to be. */
export interface Chunk<Functions> {
  (): Functions
  /** To be called by the chunk when it is loaded. */
  provide(functions: Functions): void
  /** Whether it can be called now. */
  isCallable(): boolean
  /** The same; where it has to be waited for, it is being loaded from now on. */
  atHand(): boolean
  /** As chunkReady. */
  ready(): Waiting
}

/** Functions of a chunk, which may have several kinds of them. */
export function chunk<Functions extends object>(name: ChunkName): Chunk<Functions> {
  let functions: Functions | undefined
  const get = (): Functions => {
    if (functions === undefined) loader.now(name)
    if (functions === undefined) throw new PtliteError('INTERNAL', `chunks/${name} has not provided its functions`)
    return functions
  }
  return Object.assign(get, {
    provide(given: Functions): void {
      functions = given
      provided.add(name)
    },
    isCallable: () => isCallable(name),
    atHand(): boolean {
      const waiting = chunkReady(name)
      // who needs it waits for it, and is told why it cannot be loaded
      waiting?.catch(() => undefined)
      return waiting === undefined
    },
    ready: () => chunkReady(name),
  })
}
