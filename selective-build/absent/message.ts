import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LIBRARY_VARIABLE, nativeLibrary } from '../../runtime/native/library.js'

/** Hash of the texts that the build was made with; a build has its value in place of the name. */
declare const MESSAGES_HASH: string

let texts: readonly string[] | undefined

/** The text of an error by its number, with the values in it. Texts stand in a file beside the kernel library. */
export function message(number: number, ...values: unknown[]): string {
  texts ??= readTexts()
  const text = texts[number]
  if (text === undefined) return `message ${number}: ${values.join('; ')} (its text is in messages.json, which belongs beside libptlite.so)`
  return text.replace(/\{\}/g, () => String(values.shift()))
}

function readTexts(): readonly string[] {
  try {
    const library = nativeLibrary() ?? process.env[LIBRARY_VARIABLE]
    const folder = dirname(library !== undefined && library !== '' ? library : fileURLToPath(import.meta.url))
    const { hash, texts } = JSON.parse(readFileSync(join(folder, 'messages.json'), 'utf8')) as { hash: string; texts: string[] }
    return hash === MESSAGES_HASH ? texts : []
  } catch {
    return []
  }
}
