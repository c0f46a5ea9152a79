import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ErrorCode, PtliteError } from '../../runtime/error.js'
import { chosenLibrary } from '../../runtime/native/library-path.js'

/** Hash of the texts that the build was made with, and first numbers above those of each code; a build has their values in place of the names. */
declare const MESSAGES_HASH: string
declare const MESSAGE_CODES: Readonly<Record<string, number>>

let texts: readonly string[] | undefined

/** The text of an error by its number, with the values in it. Texts stand in a file beside the kernel library. */
export function message(number: number, ...values: unknown[]): string {
  texts ??= readTexts()
  const text = texts[number]
  if (text === undefined) return `message ${number}: ${values.join('; ')} (its text: messages.json beside libptlite.so)`
  return text.replace(/\{\}/g, () => String(values.shift()))
}

/** The error with a number. */
export function failure(number: number, ...values: unknown[]): PtliteError {
  const code = Object.keys(MESSAGE_CODES).find((name) => number < MESSAGE_CODES[name]!)
  return new PtliteError(code as ErrorCode, message(number, ...values))
}

export function fail(number: number, ...values: unknown[]): never {
  throw failure(number, ...values)
}

function readTexts(): readonly string[] {
  try {
    const folder = dirname(chosenLibrary() || fileURLToPath(import.meta.url))
    const { hash, extend, texts } = JSON.parse(readFileSync(`${folder}/messages.json`, 'utf8')) as Record<'hash' | 'extend', string> & {
      texts: string[]
    }
    return hash === MESSAGES_HASH ? texts.map((text) => text.replace('{+}', () => extend)) : []
  } catch {
    return []
  }
}
