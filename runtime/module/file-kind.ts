/** What a file is by its first bytes; names and extensions say nothing. */
export type FileKind =
  | 'zip' // a .ptl module, or a full TorchScript archive
  | 'flatbuffer' // a .ff module
  | 'pickle' // what torch.save wrote before it wrote zip files
  | 'other'

/** Bytes that `fileKind` needs. */
export const HEAD_BYTES = 8

/** Tells the kind of a file from its first HEAD_BYTES bytes. */
export function fileKind(head: Uint8Array): FileKind {
  if (startsWith(head, 0, [0x50, 0x4b, 0x03, 0x04])) return 'zip'
  if (startsWith(head, 4, [0x50, 0x54, 0x4d, 0x46])) return 'flatbuffer'
  if (startsWith(head, 0, [0x80, 0x02])) return 'pickle'
  return 'other'
}

function startsWith(bytes: Uint8Array, offset: number, magic: readonly number[]): boolean {
  return bytes.length >= offset + magic.length && magic.every((byte, i) => bytes[offset + i] === byte)
}
