import type { SpeechSegment, Transcription } from 'ptlite'
import { quoted } from '../protocol/error.js'
import type { FormPart } from '../http/multipart.js'
import type { TranscribeRequest } from '../text/messages.js'
import { wrong } from './errors.js'

const MOST_TEXT = 1 << 16
const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const

/** A recording that is to be transcribed, and how the answer looks. */
export interface ReadTranscription {
  readonly model: string
  readonly request: Omit<TranscribeRequest, 'kind' | 'id'>
  readonly isStream: boolean
  /** An object is sent as JSON. */
  readonly whole: (transcription: Transcription) => object | string
}

/** The fields of `POST /v1/audio/transcriptions` and `/v1/audio/translations`. Throws what is wrong with them. */
export function readTranscription(form: readonly FormPart[], task: 'transcribe' | 'translate'): ReadTranscription {
  const text = (name: string): string | null => {
    const part = form.find((each) => each.name === name)
    if (part === undefined) return null
    if (part.data.length > MOST_TEXT) throw wrong(name, `has ${part.data.length} bytes; at most ${MOST_TEXT}`)
    return part.data.toString('utf8')
  }
  const file = form.find(({ name }) => name === 'file')
  if (file === undefined || file.data.length === 0) throw wrong('file', 'is missing: expected a WAV file')
  const model = text('model')
  if (model === null) throw wrong('model', 'is missing')
  const format = text('response_format') ?? 'json'
  if (!isFormat(format))
    throw wrong('response_format', `expected ${FORMATS.map((each) => `'${each}'`).join(', ')}, found ${quoted(format)}`)
  const temperature = text('temperature')
  const degrees = temperature === null ? null : Number(temperature)
  if (degrees !== null && !(degrees >= 0 && degrees <= 1))
    throw wrong('temperature', `expected a number from 0 to 1, found ${quoted(temperature)}`)
  const granularities = form.filter(({ name }) => /^timestamp_granularities(\[\d*\])?$/.test(name)).map(({ data }) => data.toString('utf8'))
  for (const each of granularities)
    if (each !== 'word' && each !== 'segment') throw wrong('timestamp_granularities', `expected 'word' or 'segment', found ${quoted(each)}`)
  const hasWords = granularities.includes('word')
  if (hasWords && format !== 'verbose_json') throw wrong('timestamp_granularities', "takes response_format 'verbose_json'")
  const stream = text('stream')
  return {
    model,
    isStream: stream === 'true',
    request: {
      sound: Uint8Array.from(file.data),
      language: text('language'),
      prompt: text('prompt'),
      ...{ task, temperature: degrees, hasWords },
    },
    whole: (transcription) => answerOf(transcription, format, task, hasWords),
  }
}

const isFormat = (value: string): value is (typeof FORMATS)[number] => (FORMATS as readonly string[]).includes(value)

function answerOf(transcription: Transcription, format: (typeof FORMATS)[number], task: string, hasWords: boolean): object | string {
  const { text, segments, language, duration } = transcription
  if (format === 'json') return { text }
  if (format === 'text') return `${text}\n`
  if (format === 'srt') return segments.map((segment, i) => `${i + 1}\n${captionOf(segment, ',')}`).join('\n')
  if (format === 'vtt') return `WEBVTT\n\n${segments.map((segment) => captionOf(segment, '.')).join('\n')}`
  return {
    ...{ task, language: language === null ? null : nameOf(language), duration, text },
    segments: segments.map((segment, id) => ({
      ...{ id, seek: Math.round(100 * segment.start), start: segment.start, end: segment.end, text: segment.text, tokens: segment.tokens },
      ...{ temperature: segment.temperature ?? 0, avg_logprob: segment.averageLogprob },
      ...{ compression_ratio: segment.compressionRatio ?? 0, no_speech_prob: segment.noSpeechProbability ?? 0 },
    })),
    ...(hasWords && {
      words: segments.flatMap(({ words = [] }) => words.map(({ text: word, start, end }) => ({ word: word.trim(), start, end }))),
    }),
  }
}

/** Lines of subtitles. */
function captionOf({ start, end, text }: SpeechSegment, point: string): string {
  const timeOf = (seconds: number): string => {
    const all = Math.round(1000 * seconds)
    const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
    return `${two(all / 3_600_000)}:${two((all / 60_000) % 60)}:${two((all / 1000) % 60)}${point}${String(all % 1000).padStart(3, '0')}`
  }
  return `${timeOf(start)} --> ${timeOf(end)}\n${text.trim()}\n`
}

function nameOf(code: string): string {
  return (new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code).toLowerCase()
}
