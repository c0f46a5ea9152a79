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

/** Some have functions of several kinds. */
const chunks = new Map<ChunkName, Chunk<never>>()
let loader: ChunkLoader = {
  now(name) {
    throw new PtliteError('INTERNAL', `chunks/${name} was not imported`)
  },
}

/** Says how chunks are loaded. */
export function setChunkLoader(other: ChunkLoader): void {
  loader = other
}

/** Gives the functions of a chunk, which is loaded for that where it has to be. */
export interface Chunk<Functions> {
  (): Functions
  /** To be called by the chunk when it is loaded. */
  provide(functions: Functions): void
  /** Whether it can be called now; where it has to be waited for, it is being loaded from now on. */
  atHand(): boolean
  /** Waits for the chunk where it cannot be loaded in the middle of a call. */
  ready(): Waiting
}

/** A chunk, of which there is one with each name. */
export function chunk<Functions extends object>(name: ChunkName): Chunk<Functions> {
  let functions: Functions | undefined
  let loading: Promise<void> | undefined
  const get = (): Functions => {
    if (functions === undefined) loader.now(name)
    if (functions === undefined) throw new PtliteError('INTERNAL', `chunks/${name} has not provided its functions`)
    return functions
  }
  const made = Object.assign(get, {
    provide(given: Functions): void {
      functions = given
    },
    atHand(): boolean {
      const waiting = made.ready()
      // who needs it waits for it, and is told why it cannot be loaded
      waiting?.catch(() => undefined)
      return waiting === undefined
    },
    ready(): Waiting {
      if (functions !== undefined || loader.later === undefined) return undefined
      return (loading ??= loader.later(name).catch((error: unknown) => {
        // the network may be there next time
        loading = undefined
        throw error
      }))
    },
  })
  chunks.set(name, made as never)
  return made
}

/** Waits for a chunk by its name. */
export function chunkReady(name: ChunkName): Waiting {
  return chunks.get(name)?.ready()
}
