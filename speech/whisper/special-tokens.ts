import { PtliteError } from '../../runtime/error.js'
import { encode, type Tokenizer } from '../../generation/text/tokenizer.js'

/** Tokens that are no text. */
export interface SpecialTokens {
  /** `<|startoftranscript|>` */
  readonly start: number
  /** `<|endoftext|>`; those of text are below it. */
  readonly end: number
  /** `<|nospeech|>` */
  readonly noSpeech: number
  /** `<|notimestamps|>` */
  readonly noTimestamps: number
  /** `<|0.00|>`; those behind it are 0.02 s further each. */
  readonly firstTime: number
  /** `<|startofprev|>`, before what was said before; null where there is none. */
  readonly previous: number | null
  /** By code. Empty: the model knows English alone. */
  readonly languages: ReadonlyMap<string, number>
  readonly tasks: { readonly transcribe: number | null; readonly translate: number | null }
  /** Never come. */
  readonly suppressed: readonly number[]
  /** Do not come first. */
  readonly suppressedFirst: readonly number[]
  /** The most that the first time may be, in steps of 0.02 s. */
  readonly latestFirst: number
  /** The most tokens of a window, with those before it. */
  readonly most: number
  /** Layers and heads whose attention follows the sound; null: not known. */
  readonly alignmentHeads: readonly (readonly [layer: number, head: number])[] | null
}

/** What transformers' files say of Whisper where they say nothing. */
const MOST = 448
const LATEST_FIRST = 50
/** The first of the models that know other languages than English has one token more. */
const ENGLISH_END = 50256
/** Languages have tokens of their own, fewer than these. */
const MOST_LANGUAGES = 256

/** By `generation_config.json`, and else by what the tokenizer knows. Throws INVALID_ARGUMENT where neither says it. */
export function specialTokensOf(config: object | undefined, tokenizer: Tokenizer | undefined): SpecialTokens {
  const fields = (config ?? {}) as Readonly<Record<string, unknown>>
  const known = (text: string): number | null => {
    const tokens = tokenizer === undefined ? [] : encode(tokenizer, text, false)
    return tokens.length === 1 ? tokens[0]! : null
  }
  const token = (name: string, text: string): number => {
    const given = fields[name]
    const first: unknown = Array.isArray(given) ? given[0] : given
    const found = isToken(first) ? first : known(text)
    if (found !== null) return found
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `transcribe(): neither config nor tokenizer says which token ${text} is; give the contents of generation_config.json as the option config`,
    )
  }
  const start = token('decoder_start_token_id', '<|startoftranscript|>')
  const end = token('eos_token_id', '<|endoftext|>')
  const noTimestamps = token('no_timestamps_token_id', '<|notimestamps|>')
  const tasks = tokensIn(fields['task_to_id'])
  const translate = tasks.get('translate') ?? known('<|translate|>')
  const isMultilingual = typeof fields['is_multilingual'] === 'boolean' ? fields['is_multilingual'] : end !== ENGLISH_END
  const given = tokensIn(fields['lang_to_id'])
  const languages = given.size > 0 || tokenizer === undefined ? given : languagesOf(tokenizer, start, translate)
  const all = Array.from({ length: Math.max(0, noTimestamps - end) }, (_, i) => end + 1 + i)
  return {
    ...{ start, end, noTimestamps, noSpeech: noTimestamps - 1, firstTime: noTimestamps + 1 },
    previous: isToken(fields['prev_sot_token_id']) ? fields['prev_sot_token_id'] : known('<|startofprev|>'),
    languages: isMultilingual ? new Map([...languages].map(([name, id]) => [codeOf(name), id])) : new Map<string, number>(),
    tasks: isMultilingual
      ? { transcribe: tasks.get('transcribe') ?? known('<|transcribe|>'), translate }
      : { transcribe: null, translate: null },
    suppressed: config === undefined ? all : listOf(fields['suppress_tokens']),
    suppressedFirst: config === undefined ? [end, ...listOf([known(' ')])] : listOf(fields['begin_suppress_tokens']),
    latestFirst: isToken(fields['max_initial_timestamp_index']) ? fields['max_initial_timestamp_index'] : LATEST_FIRST,
    most: isToken(fields['max_length']) && fields['max_length'] > 1 ? fields['max_length'] : MOST,
    alignmentHeads: headsOf(fields['alignment_heads']),
  }
}

/** The code of a language that a caller names, 'en' or 'English'. Throws INVALID_ARGUMENT where the model does not know it. */
export function languageOf(name: string, { languages }: SpecialTokens): string {
  const wanted = name.trim().toLowerCase()
  const code = codeOf(wanted)
  if (languages.has(code)) return code
  for (const each of languages.keys()) if (nameOf(each) === wanted) return each
  const some = languages.size === 0 ? 'English alone' : [...languages.keys()].join(', ')
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `transcribe(): the model does not know the language ${JSON.stringify(name.slice(0, 40))}; it knows ${some}`,
  )
}

/** In English. */
export function nameOf(code: string): string {
  try {
    return (new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code).toLowerCase()
  } catch {
    return code
  }
}

/** `<|en|>` is en. */
const codeOf = (text: string): string => /^<\|(.*)\|>$/.exec(text)?.[1] ?? text

function languagesOf(tokenizer: Tokenizer, start: number, end: number | null): Map<string, number> {
  const found = new Map<string, number>()
  for (let id = start + 1; id < Math.min(end ?? Infinity, start + MOST_LANGUAGES); id++) {
    const code = /^<\|([a-z]{2,3})\|>$/.exec(tokenizer.decode([id], { skip_special_tokens: false }).trim())?.[1]
    if (code === undefined) break
    found.set(code, id)
  }
  return found
}

function isToken(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function listOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter(isToken) : []
}

function tokensIn(value: unknown): Map<string, number> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value as Record<string, unknown>) : []
  return new Map(entries.filter((entry): entry is [string, number] => isToken(entry[1])))
}

function headsOf(value: unknown): readonly (readonly [number, number])[] | null {
  if (!Array.isArray(value)) return null
  const pairs = value.filter((each): each is [number, number] => Array.isArray(each) && each.length === 2 && each.every(isToken))
  return pairs.length === 0 ? null : pairs
}
