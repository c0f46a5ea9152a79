import { basename, dirname, join } from 'node:path'
import { type AheadHeader, read as readHeader, readPlans, readStateSummaries, readSummaries } from '../../formats/ptlc/read.js'
import type { PlanSummary } from '../../formats/ptlc/read-plan.js'
import { type ByteSource, openSource } from '../../formats/containers/bytes.js'
import { OpenedFile } from '../../formats/containers/opened-file.js'
import { findFormat } from '../../formats/registry.js'
import { PtliteError } from '../index.js'
import { incompatibility, levelsOfPlans } from '../../engine/original.js'
import { quickDifferenceOf } from '../../engine/replaced.js'

/** What a .ptlc file says of itself. */
export interface CompiledFile {
  readonly bytes: number
  readonly about: AheadHeader['about']
  readonly plans: readonly PlanSummary[]
  /** Tensors that calls change. */
  readonly states: ReturnType<typeof readStateSummaries>
  /** Bytes of the constants, and how many there are. */
  readonly constantBytes: number
}

function withSource<T>(path: string, read: (source: ByteSource, isCompiled: boolean) => T): T {
  const source = openSource(path)
  try {
    return read(source, findFormat(new OpenedFile(source))?.holds === 'plans')
  } finally {
    source.close()
  }
}

/** Reads the header of a .ptlc file; null for other models. Throws INVALID_FILE, or UNSUPPORTED_FILE for another version of the format. */
export function readCompiled(path: string): CompiledFile | null {
  return withSource(path, (source, isCompiled) => {
    if (!isCompiled) return null
    const header = readHeader(source)
    const { preamble, about } = header
    return {
      bytes: source.size,
      about,
      plans: readSummaries(header),
      states: readStateSummaries(header),
      constantBytes: preamble.dataBytes,
    }
  })
}

/** Why the plans of a .ptlc file cannot be used here; null where they can. Throws INVALID_FILE for a damaged one. */
export function whyUnusable(path: string): string | null {
  return withSource(path, (source) => {
    const header = readHeader(source)
    const reason = incompatibility(header.about)
    if (reason !== null) return reason
    try {
      // checks the data, and every frame
      readPlans(header, levelsOfPlans(header.about))
      return null
    } catch (error) {
      if (error instanceof PtliteError && error.code === 'UNSUPPORTED_FILE') return error.message
      throw error
    }
  })
}

/** How the file beside a .ptlc file that has the name of its original differs from that; null where it does not, or there is none. */
export function replacementOf(path: string, { about }: CompiledFile): string | null {
  return quickDifferenceOf(join(dirname(path), basename(about.original)), about)
}

/** Throws UNSUPPORTED_FILE where the model is a .ptlc file, which `command` cannot use, with `advice`. */
export function refuseCompiled(path: string, command: string, advice: string): void {
  withSource(path, (_, isCompiled) => {
    if (isCompiled)
      throw new PtliteError('UNSUPPORTED_FILE', `${path}: ${command} takes no .ptlc file, which holds plans and no program; ${advice}`)
  })
}
