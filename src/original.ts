import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { CompileMode } from '../compiler/index.js'
import type { AheadModule } from '../compiler/ahead/module.js'
import { PtliteError } from '../runtime/error.js'
import type { ByteSource } from '../runtime/module/bytes.js'
import { cpu } from '../runtime/native/cpu.js'
import { VERSION } from '../runtime/version.js'
import type { Original } from './compiled-module.js'
import type { Module } from './module.js'

type About = Pick<AheadModule, 'library' | 'level' | 'original' | 'sha256'>

/** Why plans of a file cannot be used here; null where they can. */
export function incompatibility({ library, level }: About): string | null {
  if (library !== VERSION) return `it was compiled by ptlite ${library}, this is ${VERSION}`
  const here = cpu.currentLevel()
  return level === here ? null : `it was compiled for ${level}, the level in use here is ${here}`
}

export interface OriginalBeside extends Original {
  /** The model in place of plans that cannot be used. Throws UNSUPPORTED_FILE with the reason where it is not there. */
  insteadOf(reason: string): Module
}

/**
 * The model that a .ptlc file was compiled from: the file of its name in the same folder, if that has the same bytes. In place of plans
 * that cannot be used it is compiled at the first call, unless the caller wants another mode.
 */
export function originalBeside(source: ByteSource, about: About, load: (path: string, mode: CompileMode) => Module): OriginalBeside {
  const open = (mode: CompileMode): Module => {
    const path = source.path === undefined ? undefined : join(dirname(source.path), basename(about.original))
    if (path === undefined || !existsSync(path)) {
      throw new PtliteError('INVALID_ARGUMENT', path === undefined ? 'bytes have no folder to find it in' : `there is no ${path}`)
    }
    const found = sha256(readFileSync(path))
    if (found !== about.sha256) {
      throw new PtliteError('INVALID_ARGUMENT', `${path} is another model (SHA-256 ${found}, expected ${about.sha256})`)
    }
    return load(path, mode)
  }
  return {
    open: () => open('auto'),
    insteadOf(reason) {
      try {
        return open('eager')
      } catch (cause) {
        if (!(cause instanceof PtliteError)) throw cause
        throw new PtliteError(
          'UNSUPPORTED_FILE',
          `${source.label}: ${reason}; compile ${about.original} again with 'ptlite compile', or put it beside the file (${cause.message})`,
          { cause },
        )
      }
    },
  }
}

/** Of the bytes, in hexadecimal. Loaded when it is needed, which is not when plans are used. */
export function sha256(bytes: Uint8Array): string {
  const { createHash } = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto')
  return createHash('sha256').update(bytes).digest('hex')
}
