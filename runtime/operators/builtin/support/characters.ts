import { latin1, latin1TextOf } from '../../../encoding.js'
import { pace } from '../../../pace.js'
import { grow } from '../../../tensor/element-budget.js'
import { decodeBytes, encodeBytes } from './bytes.js'

// the character classes of the C locale, by byte

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

export function isUpper(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

export function isLower(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a
}

export function isAlpha(byte: number): boolean {
  return isUpper(byte) || isLower(byte)
}

export function isAlnum(byte: number): boolean {
  return isAlpha(byte) || isDigit(byte)
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}

/** Printable and neither a letter, a digit nor a space. */
export function isPunct(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f && !isAlnum(byte)
}

export function toUpper(byte: number): number {
  return isLower(byte) ? byte - 32 : byte
}

export function toLower(byte: number): number {
  return isUpper(byte) ? byte + 32 : byte
}

/** Maps every byte of a string. */
export function mapBytes(text: string, map: (byte: number, index: number) => number): string {
  grow(text.length)
  const bytes = latin1(encodeBytes(text))
  pace(bytes.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = map(bytes[i]!, i)
  return decodeBytes(latin1TextOf(bytes))
}

/** Whether `test` holds for every byte; true for the empty string. */
export function everyByte(text: string, test: (byte: number) => boolean): boolean {
  const bytes = encodeBytes(text)
  pace(bytes.length)
  for (let i = 0; i < bytes.length; i++) if (!test(bytes.charCodeAt(i))) return false
  return true
}
