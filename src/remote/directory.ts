import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { PtliteError } from '../../runtime/error.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import type { Address } from './address.js'
import type { Chunks } from './chunks.js'
import { Download, Unreachable } from './download.js'
import type { ReceivingOptions } from './fetched.js'
import { checkHash } from './integrity.js'
import { startHash } from './node-hash.js'
import { told } from './progress.js'

/** What is kept of an address: its file, and of which version it is. */
interface Entry {
  readonly tag: string
  readonly bytes: number
  readonly path: string
}

/** Bytes of an entry's description, at most. */
const MAX_ENTRY = 8192
const READ_BYTES = 1 << 20

/**
 * The path of a server's file, in a directory that keeps files of servers: those of addresses that were asked for, and as much as came of others. Processes
 * may share it. Throws INVALID_ARGUMENT where it cannot be written to.
 */
export async function pathInDirectory(address: Address, directory: string, options: ReceivingOptions): Promise<string> {
  return new Directory(address, directory, options).get()
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

class Directory {
  /** How names of the address's files begin. */
  private readonly stem: string
  private readonly extension: string

  constructor(
    private readonly address: Address,
    private readonly directory: string,
    private readonly options: ReceivingOptions,
  ) {
    const name = basename(new URL(address.url).pathname).replace(/[^\w.-]/g, '_')
    this.extension = extname(name).slice(0, 16)
    this.stem = `${name.slice(0, name.length - extname(name).length).slice(0, 64)}-${hashOf(address.url)}`
  }

  async get(): Promise<string> {
    const { address, options } = this
    await this.writing(() => mkdir(this.directory, { recursive: true }))
    const entry = await this.entry()
    // of whose hash is known there is one version
    if (entry !== undefined && options.integrity !== undefined) {
      if (await this.isIntact(entry.path, options.integrity)) return this.found(entry)
    }
    const isUsable = entry !== undefined && options.integrity === undefined
    const part = isUsable ? undefined : await this.claim()
    try {
      let download: Download
      try {
        const kept = isUsable ? { ...entry, isWhole: true } : part && { ...part, isWhole: false }
        download = await Download.begin(address, kept, options.signal)
      } catch (error) {
        if (isUsable && error instanceof Unreachable) return this.found(entry)
        throw error
      }
      if (download.isSame) return this.found(entry!)
      // of another version
      if (part !== undefined && download.from === 0) part.isKept = false
      return await this.written(download, part, entry)
    } finally {
      await part?.release()
    }
  }

  private found({ path, bytes }: Entry): string {
    throwIfAborted(this.options.signal)
    this.options.onProgress?.({ loaded: bytes, total: bytes })
    return path
  }

  /** Puts what comes behind what there is, and the whole in its place. */
  private async written(download: Download, part: Part | undefined, old: Entry | undefined): Promise<string> {
    const { tag, from } = download
    const { options } = this
    const own = from > 0 ? part! : await this.begin(tag)
    try {
      const size = await this.writing(() => this.write(own, download, from))
      const path = join(this.directory, `${this.stem}-${hashOf(`${tag} ${options.integrity ?? ''}`)}${this.extension}`)
      await this.writing(async () => {
        await rename(own.path, path)
        own.isKept = false
        const description = JSON.stringify({ url: this.address.shown, tag, bytes: size, file: basename(path) })
        const made = `${this.describing}.${randomUUID()}`
        await writeFile(made, description)
        await rename(made, this.describing)
      })
      for (const [name] of await this.left()) await unlink(join(this.directory, name)).catch(() => undefined)
      // who has it open keeps it
      if (old !== undefined && old.path !== path) await unlink(old.path).catch(() => undefined)
      return path
    } finally {
      if (own !== part) await own.release()
    }
  }

  private async write(own: Part, download: Download, from: number): Promise<number> {
    const { options } = this
    const file = await open(own.path, constants.O_RDWR)
    let at = from
    try {
      const hash = options.integrity === undefined ? undefined : startHash()
      if (hash !== undefined) for await (const bytes of readBytes(file, from)) hash.update(bytes)
      const chunks: Chunks = options.onProgress === undefined ? download : told(download, options.onProgress, from)
      let spare: ArrayBuffer | undefined
      for (;;) {
        const piece = (await chunks.next(spare)) as Uint8Array | undefined
        if (piece === undefined) break
        hash?.update(piece)
        // at its place, whoever else writes the same there
        for (let done = 0; done < piece.length;) done += (await file.write(piece, done, piece.length - done, at + done)).bytesWritten
        at += piece.length
        spare = piece.buffer as ArrayBuffer
      }
      await file.truncate(at)
      if (hash !== undefined) checkHash(hash, options.integrity!)
      return at
    } catch (error) {
      download.cancel(error)
      // all of it came, and it is another: nothing to go on with
      if (error instanceof PtliteError && download.announced > 0 && at >= download.announced) own.isKept = false
      throw error
    } finally {
      await file.close()
    }
  }

  private get describing(): string {
    return join(this.directory, `${this.stem}.json`)
  }

  /** undefined where nothing is kept, or what is kept is damaged. */
  private async entry(): Promise<Entry | undefined> {
    try {
      if ((await stat(this.describing)).size > MAX_ENTRY) return undefined
      const { tag, bytes, file } = JSON.parse(await readFile(this.describing, 'utf8')) as Readonly<Record<string, unknown>>
      if (typeof tag !== 'string' || typeof bytes !== 'number' || typeof file !== 'string') return undefined
      if (file !== basename(file) || !file.startsWith(`${this.stem}-`)) return undefined
      const path = join(this.directory, file)
      const found = await stat(path)
      return found.isFile() && found.size === bytes ? { tag, bytes, path } : undefined
    } catch {
      return undefined
    }
  }

  private async isIntact(path: string, integrity: string): Promise<boolean> {
    const file = await open(path, 'r')
    try {
      const hash = startHash()
      for await (const bytes of readBytes(file)) {
        throwIfAborted(this.options.signal)
        hash.update(bytes)
      }
      checkHash(hash, integrity)
      return true
    } catch (error) {
      if (error instanceof PtliteError && error.code === 'INVALID_FILE') return false
      throw error
    } finally {
      await file.close()
    }
  }

  /** The beginning of a file that an earlier load left, which is this one's from now on. */
  private async claim(): Promise<Part | undefined> {
    for (const [name, tag] of await this.left()) {
      const part = new Part(this.directory, this.stem, tag)
      // before it has the name, which other loads look for
      part.use()
      try {
        await rename(join(this.directory, name), part.path)
        part.bytes = (await stat(part.path)).size
        return part
      } catch {
        // another load was faster
        part.drop()
      }
    }
    return undefined
  }

  /** Names of parts that nobody writes, and their tags. */
  private async left(): Promise<(readonly [name: string, tag: string])[]> {
    const form = new RegExp(`^${this.stem.replaceAll('.', '\\.')}\\.([A-Za-z0-9_-]{1,120})\\.part-(\\d{1,10})-[0-9a-f-]+$`)
    const names: (readonly [string, string])[] = []
    for (const name of await readdir(this.directory)) {
      const [, tag, process] = form.exec(name) ?? []
      if (tag !== undefined && !isRunning(Number(process), name)) names.push([name, tag])
    }
    return names
  }

  private async begin(tag: string): Promise<Part> {
    const part = new Part(this.directory, this.stem, encodedTag(tag))
    // before it is there, where other loads look for what nobody writes
    part.use()
    try {
      await this.writing(() => writeFile(part.path, '', { flag: 'wx' }))
    } catch (error) {
      part.drop()
      throw error
    }
    return part
  }

  /** Throws WRITE_FAILED for what the system says. */
  private async writing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof PtliteError) throw cause
      throw new PtliteError('WRITE_FAILED', `the cache ${this.directory} cannot be written to: ${(cause as Error).message}`, { cause })
    }
  }
}

/** As a part of a name, which may not be long: '' for a tag that is. */
function encodedTag(tag: string): string {
  return Buffer.byteLength(tag) <= 90 ? Buffer.from(tag).toString('base64url') : ''
}

/** Names of parts that loads of this process write. */
const active = new Set<string>()

/** Whether the process that a part's name has is there, and writes it. */
function isRunning(process: number, name: string): boolean {
  if (process === globalThis.process.pid) return active.has(name)
  if (process === 0) return false
  try {
    globalThis.process.kill(process, 0)
    return true
  } catch (error) {
    // of another user
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A file of which not all has come; its name says of what, and who writes it: 0 is nobody. */
class Part {
  readonly tag: string
  readonly path: string
  bytes = 0
  /** Whether the next load can go on with it. */
  isKept = true
  private readonly names: (process: number) => string

  constructor(directory: string, stem: string, encoded: string) {
    this.tag = Buffer.from(encoded, 'base64url').toString()
    const id = randomUUID().slice(0, 8)
    this.names = (process) => join(directory, `${stem}.${encoded || '_'}.part-${process}-${id}`)
    this.path = this.names(process.pid)
  }

  /** To loads of this process it is one that is written. */
  use(): void {
    active.add(basename(this.path))
  }

  /** The opposite of `use`. */
  drop(): void {
    active.delete(basename(this.path))
  }

  /** Leaves it to the next load, or removes it. */
  async release(): Promise<void> {
    const size = this.isKept
      ? await stat(this.path).then(
          ({ size }) => size,
          () => 0,
        )
      : 0
    await (size > 0 && this.tag !== '' ? rename(this.path, this.names(0)) : unlink(this.path)).catch(() => undefined)
    this.drop()
  }
}

/** The first bytes of a file, all of them without `length`. */
async function* readBytes(file: FileHandle, length = Infinity): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(READ_BYTES)
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, length - at), at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** Throws INVALID_FILE where a file's bytes are others. */
export async function checkFile(path: string, integrity: string): Promise<void> {
  const hash = startHash()
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    // which opening it says better
    return
  }
  try {
    if (!(await file.stat()).isFile()) return
    for await (const bytes of readBytes(file)) hash.update(bytes)
  } finally {
    await file.close()
  }
  checkHash(hash, integrity)
}
