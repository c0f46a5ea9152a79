import type { ByteSource } from './bytes.js'

/** What a file is by its first bytes; names and extensions say nothing. */
export type FileKind =
  | 'zip' // a .ptl module, or a full TorchScript archive
  | 'flatbuffer' // a .ff module
  | 'pickle' // what torch.save wrote before it wrote zip files
  | 'plan' // a .ptlc file, compiled ahead
  | 'other'

/** First bytes of a .ptlc file, as characters of Latin-1. */
export const PLAN_MAGIC = 'PTLC\r\n\x1a\n'

/** Tells the kind of a file from its first bytes. */
export function fileKind({ head }: ByteSource): FileKind {
  const text = head.toString('latin1')
  if (text.startsWith('PK\x03\x04')) return 'zip'
  if (text.startsWith('PTMF', 4)) return 'flatbuffer'
  if (text.startsWith('\x80\x02')) return 'pickle'
  return text === PLAN_MAGIC ? 'plan' : 'other'
}
