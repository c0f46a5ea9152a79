import { realpath } from 'node:fs/promises'
import { sep } from 'node:path'

/** A file or folder that links lead out of the repository. */
export class OutsideError extends Error {}

/** Where a path of the repository leads, links followed. Throws OutsideError unless that is in the repository, whose own real path is `root`. */
export async function within(root: string, path: string): Promise<string> {
  const real = await realpath(path)
  if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new OutsideError(`${path.slice(root.length + 1) || path} leads out of the repository`)
  return real
}
