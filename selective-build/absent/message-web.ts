import { type ErrorCode, PtliteError } from '../../runtime/error.js'
import { filesOfHost } from '../../runtime/native/wasm/locate.js'

/** See message.ts, for which this stands in builds for browsers. */
declare const MESSAGES_HASH: string
declare const MESSAGE_CODES: Readonly<Record<string, number>>

let texts: readonly string[] | undefined

/** Where the texts are: beside the bundle. */
const file = (): URL => new URL('./messages.json', import.meta.url)

/**
 * Fulfils once errors have their texts, which stand in messages.json beside the module, or at `url`. Without it an error in a page has its `code`, the number of its text and
 * the values that belong into it; Node reads the file when the first error is made. Rejects where the file cannot be fetched.
 */
export async function messagesReady(url: string | URL = file()): Promise<void> {
  texts = textsOf(filesOfHost() === undefined ? ((await (await fetch(url)).json()) as TextFile) : readNow(url))
}

export function message(number: number, ...values: unknown[]): string {
  texts ??= readTexts()
  const text = texts?.[number]
  if (text === undefined)
    return `message ${number}: ${values.join('; ')} (its text: messages.json beside ptlite.wasm; await messagesReady())`
  return text.replace(/\{\}/g, () => String(values.shift()))
}

export function failure(number: number, ...values: unknown[]): PtliteError {
  const code = Object.keys(MESSAGE_CODES).find((name) => number < MESSAGE_CODES[name]!)
  return new PtliteError(code as ErrorCode, message(number, ...values))
}

export function fail(number: number, ...values: unknown[]): never {
  throw failure(number, ...values)
}

interface TextFile {
  readonly hash: string
  readonly extend: string
  readonly texts: readonly string[]
}

/** None where the file is that of another build. */
function textsOf({ hash, extend, texts }: TextFile): readonly string[] | undefined {
  return hash === MESSAGES_HASH ? texts.map((text) => text.replace('{+}', () => extend)) : undefined
}

function readTexts(): readonly string[] | undefined {
  try {
    return textsOf(readNow(file()))
  } catch {
    return undefined
  }
}

function readNow(url: string | URL): TextFile {
  return JSON.parse(new TextDecoder().decode(filesOfHost()!.readFileSync(url))) as TextFile
}
