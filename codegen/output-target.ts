import { lstatSync, readlinkSync, statSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Where an output goes. */
export type OutputTarget =
  | { readonly kind: 'file'; readonly path: string; readonly old: Stats | null } // a regular file, or one that is not there yet
  | { readonly kind: 'device'; readonly path: string } // what can be opened and written to, but not replaced: a FIFO, a terminal
  | { readonly kind: 'descriptor'; readonly descriptor: number } // one that this process has open: /dev/stdout

/** As many as Linux follows. */
const MAX_LINKS = 40

/**
 * Follows symbolic links, so that the file behind one is replaced and the link stays; the last one may lead to nothing yet. Names of
 * descriptors are not followed: what `> file` has opened is to be written to where it stands.
 */
export function outputTarget(given: string): OutputTarget {
  let path = resolve(given)
  for (let links = 0; links < MAX_LINKS; links++) {
    const descriptor = /^\/(?:dev|proc\/(?:self|thread-self|\d+))\/fd\/(\d+)$/.exec(path)?.[1]
    if (descriptor !== undefined) return { kind: 'descriptor', descriptor: Number(descriptor) }
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink() !== true) return kindOf(path, stats ?? null)
    path = resolve(dirname(path), readlinkSync(path))
  }
  // fails as the system says it: ELOOP
  return kindOf(path, statSync(path))
}

function kindOf(path: string, stats: Stats | null): OutputTarget {
  // a folder cannot be opened for writing, which says so
  return stats === null || stats.isFile() ? { kind: 'file', path, old: stats } : { kind: 'device', path }
}
