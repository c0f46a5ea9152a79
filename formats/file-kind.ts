import type { ByteSource } from './containers/bytes.js'
import { PLAN_MAGIC } from './ptlc/magic.js'

/** What a file is by its first bytes; names and extensions say nothing. */
export type FileKind =
  | 'zip' // a .ptl module, or a full TorchScript archive
  | 'flatbuffer' // a .ff module
  | 'pickle' // what torch.save wrote before it wrote zip files
  | 'plan' // a .ptlc file, compiled ahead
  | 'other'

/** Tells the kind of a file from its first bytes. */
export function fileKind({ head }: ByteSource): FileKind {
  const text = head.toString('latin1')
  if (text.startsWith('PK\x03\x04')) return 'zip'
  if (text.startsWith('PTMF', 4)) return 'flatbuffer'
  if (text.startsWith('\x80\x02')) return 'pickle'
  return text === PLAN_MAGIC ? 'plan' : 'other'
}
