import type { CacheLike } from '../../engine/options.js'

interface CacheStorageLike {
  open(name: string): Promise<CacheLike>
  delete(name: string): Promise<boolean>
}

export const storage = (): CacheStorageLike | undefined => (globalThis as { readonly caches?: CacheStorageLike }).caches

/** A cache, or that of this name. Pages without a secure context have none, and some browsers refuse it. */
export async function openedCache(where: string | CacheLike): Promise<CacheLike | undefined> {
  if (typeof where === 'object') return where
  return storage()
    ?.open(where)
    .catch(() => undefined)
}
