import { randomBytes } from 'node:crypto'
import { accessSync, constants, renameSync, rmSync, statfsSync, write } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PtliteError } from '../runtime/error.js'
import { outputTarget } from './output-target.js'

/** Signals that end a process which does not handle them, and that may be sent while it writes. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Written at a time: between two of them signals are heard. */
const CHUNK = 1 << 24

/** What stands in a file by its path. */
export type Outputs = ReadonlyMap<string, string | Uint8Array>

const nothing = (): void => undefined

/** Files that were written and have not taken their places yet. */
class Partials {
  /** Their targets by their own paths. */
  private readonly targets = new Map<string, string>()

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.stop)
    // a file that becomes larger than a process may write is an error then
    process.on('SIGXFSZ', nothing)
    process.on('exit', this.remove)
  }

  /** A new file beside `target`. */
  async create(target: string, mode: number): Promise<FileHandle> {
    const path = join(dirname(target), `.ptlite-${process.pid}-${randomBytes(6).toString('hex')}.partial`)
    const handle = await open(path, 'wx', mode & 0o777)
    this.targets.set(path, target)
    return handle
  }

  takePlaces(): void {
    for (const [path, target] of this.targets) {
      renameSync(path, target)
      this.targets.delete(path)
    }
  }

  /** Removes those that are left. */
  end(): void {
    this.remove()
    for (const signal of SIGNALS) process.off(signal, this.stop)
    process.off('SIGXFSZ', nothing)
    process.off('exit', this.remove)
  }

  readonly remove = (): void => {
    for (const path of this.targets.keys()) rmSync(path, { force: true })
    this.targets.clear()
  }

  private readonly stop = (signal: NodeJS.Signals): void => {
    this.end()
    // as the process would have ended without a handler
    process.kill(process.pid, signal)
  }
}

/**
 * The one way in which commands write files: all of them or none. Each is written whole beside its target, in the same folder under a name of
 * its own, and takes the target's place by a rename: who has the old file open or mapped keeps it, and it stays where anything fails. An
 * error or a signal removes what was written. Permissions are those of the old file; other names of it (hard links) keep the old contents, and
 * a symbolic link stays one. What cannot be replaced (/dev/stdout, a pipe, a device) is written to instead.
 *
 * Throws WRITE_FAILED naming the file: where it or its folder may not be written to, and, on a full disk, with the bytes that are needed and
 * those that are free.
 */
export async function replaceFiles(files: Outputs): Promise<void> {
  const outputs = [...files].map(([path, text]) => ({ path, bytes: typeof text === 'string' ? new TextEncoder().encode(text) : text }))
  const partials = new Partials()
  let at = ''
  try {
    for (const { path, bytes } of outputs) await outputTo((at = path), bytes, partials)
    partials.takePlaces()
  } catch (cause) {
    partials.remove()
    const needed = outputs.reduce((sum, { bytes }) => sum + bytes.length, 0)
    throw new PtliteError('WRITE_FAILED', `cannot write ${at}: ${reasonOf(at, needed, cause as NodeJS.ErrnoException)}`, { cause })
  } finally {
    partials.end()
  }
}

async function outputTo(path: string, bytes: Uint8Array, partials: Partials): Promise<void> {
  const target = outputTarget(path)
  if (target.kind === 'descriptor') return writeTo(target.descriptor, bytes)
  if (target.kind === 'device') return using(await open(target.path, 'w'), ({ fd }) => writeTo(fd, bytes))
  const { old } = target
  if (old !== null) accessSync(target.path, constants.W_OK)
  await using(await partials.create(target.path, old?.mode ?? 0o666), async (handle) => {
    if (old !== null) await handle.chmod(old.mode & 0o777)
    await writeTo(handle.fd, bytes)
    // before the rename, or a machine that loses power may keep the new name without the contents
    await handle.sync()
  })
}

async function using(handle: FileHandle, use: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(handle)
  } finally {
    await handle.close()
  }
}

const writeSome = promisify(write)

async function writeTo(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    try {
      at += (await writeSome(descriptor, bytes, at, Math.min(CHUNK, bytes.length - at))).bytesWritten
    } catch (error) {
      // a pipe that does not block, with a slow reader
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      await setTimeout(5)
    }
  }
}

function reasonOf(path: string, needed: number, { code, syscall, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return `no space left; ${spaceAt(path, needed)}`
  if (code === 'EFBIG') return `${needed} bytes are more than a file may have here (ulimit -f)`
  if (syscall === 'open' && ['EACCES', 'EPERM', 'EROFS'].includes(code!))
    return `no file can be created in its folder (${code!}), which replacing it takes; name one in another folder`
  return message
}

function spaceAt(path: string, needed: number): string {
  const target = outputTarget(path)
  if (target.kind !== 'file') return `it needs ${needed} bytes`
  const { bavail, bsize } = statfsSync(dirname(target.path))
  return `it needs ${needed} bytes${target.old === null ? '' : ' beside the old file, which stays'}, and ${bavail * bsize} are free`
}
