/** What a file is by its first bytes; names and extensions say nothing. */
export type FileKind =
  | 'zip' // a .ptl module, or a full TorchScript archive
  | 'flatbuffer' // a .ff module
  | 'pickle' // what torch.save wrote before it wrote zip files
  | 'plan' // a .ptlc file, compiled ahead
  | 'other'

/** Bytes that `fileKind` needs. */
export const HEAD_BYTES = 8

/** First bytes of a .ptlc file. */
export const PLAN_MAGIC: readonly number[] = [0x50, 0x54, 0x4c, 0x43, 0x0d, 0x0a, 0x1a, 0x0a]

/** Tells the kind of a file from its first HEAD_BYTES bytes. */
export function fileKind(head: Uint8Array): FileKind {
  if (startsWith(head, 0, [0x50, 0x4b, 0x03, 0x04])) return 'zip'
  if (startsWith(head, 4, [0x50, 0x54, 0x4d, 0x46])) return 'flatbuffer'
  if (startsWith(head, 0, [0x80, 0x02])) return 'pickle'
  if (startsWith(head, 0, PLAN_MAGIC)) return 'plan'
  return 'other'
}

function startsWith(bytes: Uint8Array, offset: number, magic: readonly number[]): boolean {
  return bytes.length >= offset + magic.length && magic.every((byte, i) => bytes[offset + i] === byte)
}
