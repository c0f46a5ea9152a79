import { latin1TextOf, strictTextOf, textOf } from '../../runtime/encoding.js'
import { pace } from '../../runtime/pace.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { damaged } from '../../program/file-error.js'

/** A value of a JSON text. Integers past 2^53 are bigints, objects are Maps. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject | Deferred

export type JsonObject = Map<string, Json>

/** A value that was passed over: `JsonReader.at(offset)` reads it. */
export class Deferred {
  constructor(readonly offset: number) {}
}

const MAX_DEPTH = 200
const NONE: ReadonlySet<string> = new Set()

const QUOTE = 0x22
const ZERO = 0x30
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Reads JSON from its bytes. Unlike JSON.parse it keeps 64-bit integers exact, can pass over what is not needed, and takes memory from a budget, so
 * that a small file cannot fill it. Throws INVALID_FILE with the offset of what is wrong.
 */
export class JsonReader {
  private pos = 0
  private depth = 0
  private deferred = NONE

  constructor(
    private readonly bytes: Uint8Array,
    private readonly budget: ValueBudget,
  ) {}

  /** The whole text as a value. Values of object fields that `deferred` names are passed over. */
  document(deferred: ReadonlySet<string> = NONE): Json {
    this.pos = 0
    this.deferred = deferred
    const value = this.value()
    if (this.next() >= 0) this.fail('the end')
    return value
  }

  /** The value at an offset that a Deferred gave. */
  at({ offset }: Deferred, deferred: ReadonlySet<string> = NONE): Json {
    this.pos = offset
    this.depth = 0
    this.deferred = deferred
    return this.value()
  }

  /** Fields of the object at an offset whose names are wanted; all others are passed over. */
  fieldsAt({ offset }: Deferred, wanted: { has(name: string): boolean }): JsonObject {
    this.pos = offset
    this.depth = 0
    this.deferred = NONE
    return this.object(wanted)
  }

  private value(): Json {
    const byte = this.next()
    this.budget.spend(1)
    switch (byte) {
      case OPEN_OBJECT:
        return this.object(null)
      case OPEN_LIST:
        return this.list()
      case QUOTE:
        return this.text()
      case 0x74:
        return this.word('true', true)
      case 0x66:
        return this.word('false', false)
      case 0x6e:
        return this.word('null', null)
      default:
        return this.number()
    }
  }

  private object(wanted: { has(name: string): boolean } | null): JsonObject {
    this.enter(OPEN_OBJECT)
    const object: JsonObject = new Map()
    if (this.next() === CLOSE_OBJECT) {
      this.leave()
      return object
    }
    for (;;) {
      if (this.next() !== QUOTE) this.fail('the name of a field')
      const name = this.text()
      if (this.next() !== COLON) this.fail("':'")
      this.pos++
      if (wanted !== null && !wanted.has(name)) this.skip()
      else {
        if (object.has(name)) throw damaged(`the field '${name}' is there twice (offset ${this.pos})`)
        this.budget.spend(2)
        object.set(name, this.deferred.has(name) ? this.defer() : this.value())
      }
      const end = this.next()
      if (end === CLOSE_OBJECT) break
      if (end !== COMMA) this.fail("',' or '}'")
      this.pos++
    }
    this.leave()
    return object
  }

  private list(): Json[] {
    this.enter(OPEN_LIST)
    const items: Json[] = []
    if (this.next() !== CLOSE_LIST) {
      for (;;) {
        items.push(this.value())
        const end = this.next()
        if (end === CLOSE_LIST) break
        if (end !== COMMA) this.fail("',' or ']'")
        this.pos++
      }
    }
    this.leave()
    return items
  }

  private enter(byte: number): void {
    if (this.next() !== byte) this.fail(`'${String.fromCharCode(byte)}'`)
    if (++this.depth > MAX_DEPTH) throw damaged(`values are nested more than ${MAX_DEPTH} deep (offset ${this.pos})`)
    this.pos++
  }

  private leave(): void {
    this.depth--
    this.pos++
  }

  private text(): string {
    const start = ++this.pos
    const isPlain = this.endOfText()
    const end = this.pos++
    this.budget.spendBytes(end - start)
    if (isPlain) return textOf(this.bytes.subarray(start, end))
    try {
      return JSON.parse(strictTextOf(this.bytes.subarray(start - 1, end + 1)) ?? '') as string
    } catch {
      throw damaged(`a text is no UTF-8, or has an unknown escape (offset ${start})`)
    }
  }

  /** Goes to the closing quote. True where the characters are those of ASCII, and none is escaped. */
  private endOfText(): boolean {
    const { bytes } = this
    let isPlain = true
    for (let i = this.pos; i < bytes.length; i++) {
      const byte = bytes[i]!
      if (byte === QUOTE) {
        this.pos = i
        return isPlain
      }
      if (byte === BACKSLASH) i++
      if (byte === BACKSLASH || byte > 0x7e || byte < 0x20) isPlain = false
    }
    this.pos = bytes.length
    return this.fail('the end of a text')
  }

  private word<T>(text: string, value: T): T {
    if (latin1TextOf(this.bytes.subarray(this.pos, this.pos + text.length)) !== text) this.fail('a value')
    this.pos += text.length
    return value
  }

  private number(): number | bigint {
    const { bytes } = this
    const start = this.pos
    let end = start
    // most are short and of digits alone
    let short = 0
    while (isDigit(bytes[end])) short = 10 * short + bytes[end++]! - ZERO
    const isShort = end > start && end - start < 16 && (bytes[start] !== ZERO || end === start + 1)
    if (isShort && NUMBER_CHARACTERS[bytes[end]!] !== 1) {
      this.pos = end
      return short
    }
    while (end < bytes.length && NUMBER_CHARACTERS[bytes[end]!] === 1) end++
    const text = latin1TextOf(bytes.subarray(start, end))
    if (text.length > 400 || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text)) this.fail('a value')
    this.pos = end
    const value = Number(text)
    return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
  }

  private defer(): Deferred {
    this.next()
    const place = new Deferred(this.pos)
    this.skip()
    return place
  }

  /** Passes over a value. Of what is in it only texts and the balance of brackets are looked at. */
  private skip(): void {
    let open = 0
    do {
      pace(4)
      const byte = this.next()
      if (byte < 0) this.fail('a value')
      else if (byte === QUOTE) {
        this.pos++
        this.endOfText()
        this.pos++
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        open++
        this.pos++
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (--open < 0) this.fail('a value')
        this.pos++
      } else if (byte === COMMA || byte === COLON) {
        if (open === 0) this.fail('a value')
        this.pos++
      } else this.skipWord()
    } while (open > 0)
  }

  private skipWord(): void {
    const { bytes } = this
    const start = this.pos
    while (this.pos < bytes.length && WORD_CHARACTERS[bytes[this.pos]!] === 1) this.pos++
    if (this.pos === start) this.fail('a value')
  }

  /** The next byte that is no white space, which stays where it is; -1 at the end. */
  private next(): number {
    const { bytes } = this
    while (this.pos < bytes.length) {
      const byte = bytes[this.pos]!
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return byte
      this.pos++
    }
    return -1
  }

  private fail(expected: string): never {
    throw damaged(`the JSON text is damaged at offset ${this.pos}: expected ${expected}`)
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte < ZERO + 10
}

function charactersOf(text: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const character of text) set[character.charCodeAt(0)] = 1
  return set
}

const NUMBER_CHARACTERS = charactersOf('0123456789+-.eE')
const WORD_CHARACTERS = charactersOf('0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')
