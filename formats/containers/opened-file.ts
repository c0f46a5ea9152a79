import { latin1TextOf } from '../../runtime/encoding.js'
import { absent } from '../../runtime/error.js'
import * as features from '../../runtime/features.js'
import type { ByteSource } from './bytes.js'
import { ZipArchive } from './zip/archive.js'
import { isZip } from './zip/magic.js'

/** A file that is open, as what tells formats apart and readers see it. */
export class OpenedFile {
  /** Its first bytes, up to 8, as characters of Latin-1. */
  readonly head: string
  private archive: ZipArchive | null | undefined

  constructor(
    readonly source: ByteSource,
    /** Checksums of tensors in a zip are checked, too. */
    private readonly verify = false,
  ) {
    this.head = latin1TextOf(source.head)
  }

  /** The archive that it is, whose directory is read once; null for files that are no zip. Throws INVALID_FILE where the directory is damaged. */
  get zip(): ZipArchive | null {
    if (this.archive === undefined) this.archive = isZip(this.source) ? archiveOf(this.source, this.verify) : null
    return this.archive
  }
}

function archiveOf(source: ByteSource, verify: boolean): ZipArchive {
  if (!features.ptl && !features.pt2 && !features.torchscript)
    throw absent('the reader of zip archives (.ptl, .pt2, .pt)', 'UNSUPPORTED_FILE')
  return new ZipArchive(source, verify)
}
