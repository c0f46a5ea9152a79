import { fieldsOf } from '../../runtime/bytes.js'
import { latin1, latin1TextOf } from '../../runtime/encoding.js'
import { PLAN_MAGIC } from './magic.js'
import { damaged, unsupported } from '../../program/file-error.js'

/** Version of the container: the preamble and plan.fbs. */
export const FORMAT_VERSION = 3
export const PREAMBLE_BYTES = 64
/** Constants begin at multiples of this. */
export const DATA_ALIGNMENT = 64

/** What stands before the header: where header and data lie, and their checksums. Little endian. */
export interface Preamble {
  readonly headerBytes: number
  readonly dataStart: number
  readonly dataBytes: number
  readonly headerHash: bigint
  readonly dataHash: bigint
}

const AT = { version: 8, headerBytes: 16, dataStart: 24, dataBytes: 32, headerHash: 40, dataHash: 48, ownHash: 56 } as const

/** `hash` is that of the bytes before the last field. */
export function writePreamble(preamble: Preamble, hash: (bytes: Uint8Array) => bigint): Uint8Array {
  const bytes = new Uint8Array(PREAMBLE_BYTES)
  const view = new DataView(bytes.buffer)
  bytes.set(latin1(PLAN_MAGIC))
  view.setUint32(AT.version, FORMAT_VERSION, true)
  for (const field of ['headerBytes', 'dataStart', 'dataBytes'] as const) view.setBigUint64(AT[field], BigInt(preamble[field]), true)
  view.setBigUint64(AT.headerHash, preamble.headerHash, true)
  view.setBigUint64(AT.dataHash, preamble.dataHash, true)
  view.setBigUint64(AT.ownHash, hash(bytes.subarray(0, AT.ownHash)), true)
  return bytes
}

/** Checks everything but the hashes of header and data. `fileBytes` is the size of the file. Throws PtliteError naming `label`. */
export function readPreamble(bytes: Uint8Array, fileBytes: number, label: string, hash: (bytes: Uint8Array) => bigint): Preamble {
  if (bytes.length < PREAMBLE_BYTES || latin1TextOf(bytes.subarray(0, 8)) !== PLAN_MAGIC) throw damaged(`${label}: not a whole .ptlc file`)
  const view = fieldsOf(bytes)
  const version = view.getUint32(AT.version, true)
  if (version !== FORMAT_VERSION) {
    throw unsupported(`${label}: expected version ${FORMAT_VERSION} of the .ptlc format, found ${version}; compile the model again`)
  }
  if (view.getBigUint64(AT.ownHash, true) !== hash(bytes.subarray(0, AT.ownHash))) throw damaged(`${label}: its first bytes are damaged`)
  const number = (at: number): number => Number(view.getBigUint64(at, true))
  const preamble = {
    headerBytes: number(AT.headerBytes),
    dataStart: number(AT.dataStart),
    dataBytes: number(AT.dataBytes),
    headerHash: view.getBigUint64(AT.headerHash, true),
    dataHash: view.getBigUint64(AT.dataHash, true),
  }
  const { headerBytes, dataStart, dataBytes } = preamble
  if (dataStart < PREAMBLE_BYTES + headerBytes || dataStart % DATA_ALIGNMENT !== 0 || dataStart + dataBytes !== fileBytes) {
    throw damaged(`${label}: expected ${dataStart + dataBytes} bytes, found ${fileBytes}; the file is cut off or damaged`)
  }
  return preamble
}
