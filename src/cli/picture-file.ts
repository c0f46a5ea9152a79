import { PtliteError } from '../../runtime/error.js'
import type { Pixels } from '../index.js'
import type { Decoded } from './decoders.js'

/** What a small file may claim to unpack to. */
const MEGAPIXELS = 100

/** Kinds of pictures by their first bytes; those without a reader are named where they are refused. */
const KINDS: readonly (readonly [name: string, begins: RegExp, isRead: boolean])[] = [
  ['JPEG', /^\xff\xd8\xff/, true],
  ['PNG', /^\x89PNG\r\n\x1a\n/, true],
  ['WebP', /^RIFF[^]{4}WEBP/, false],
  ['GIF', /^GIF8/, false],
  ['AVIF', /^[^]{4}ftypavi/, false],
  ['HEIC', /^[^]{4}ftyp(?:hei|mif|msf)/, false],
  ['TIFF', /^(?:II\*\0|MM\0\*)/, false],
  ['BMP', /^BM/, false],
]

function kindOf(bytes: Uint8Array): (typeof KINDS)[number] | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  return KINDS.find(([, begins]) => begins.test(start))
}

/** Whether these bytes are a picture's, read here or not. */
export function isPicture(bytes: Uint8Array): boolean {
  return kindOf(bytes) !== undefined
}

/** The pixels of a JPEG or PNG file. Throws UNSUPPORTED_FILE for other kinds and huge pictures, INVALID_FILE for damaged ones. */
export async function readPicture(bytes: Uint8Array): Promise<Pixels> {
  const [name, , isRead] = kindOf(bytes) ?? ['file without the signature of a picture', null, false]
  if (!isRead) throw new PtliteError('UNSUPPORTED_FILE', `a ${name} cannot be read; expected JPEG or PNG`)
  const { decodeJpeg, decodePng } = await import('./decoders.js')
  if (name === 'PNG') checkSize(bytes)
  let decoded: Decoded
  try {
    decoded = name === 'PNG' ? decodePng(bytes) : decodeJpeg(bytes, MEGAPIXELS)
  } catch (cause) {
    const { message } = cause as Error
    if (/maxResolutionInMP/.test(message)) throw tooLarge()
    throw new PtliteError('INVALID_FILE', `damaged ${name} file: ${message}`, { cause })
  }
  const { data, width, height } = decoded
  return { data, width, height }
}

/** The header of a PNG file says how large it is, before anything is unpacked. */
function checkSize(bytes: Uint8Array): void {
  if (bytes.length < 24) return
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(16) * view.getUint32(20) > MEGAPIXELS * 1e6) throw tooLarge()
}

function tooLarge(): PtliteError {
  return new PtliteError('UNSUPPORTED_FILE', `the picture has more than ${MEGAPIXELS} million pixels`)
}
