import type { LanguageModel } from '../../generation/language-model.js'
import { tensorsIn } from '../../generation/results.js'
import { fixedSize, mostOf } from '../../generation/roles.js'
import { melSpectrogram } from '../../media/audio/mel-spectrogram.js'
import { reading } from '../../runtime/tensor/check-arguments.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import { check, PtliteError } from '../../runtime/error.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Input } from '../../src/values/convert.js'
import { tensor } from '../../src/values/tensor.js'
import type { TranscribeOptions } from '../options.js'
import type { SpeechSegment, Transcription } from '../transcription.js'
import { RATE } from '../whisper/features.js'
import { decoded } from './decode.js'
import { normalized } from './frames.js'
import { readVocabulary } from './vocabulary.js'

/** Seconds of a window, and how much of it at each side is there for the sake of the middle. */
const WINDOW = 30
const MARGIN = 5
/** transformers' Wav2Vec2FeatureExtractor. */
const LEAST_VARIANCE = 1e-7

/** Speech as text by a model that gives logits for each frame. */
export async function transcribeFrames(model: LanguageModel, samples: Tensor, options: TranscribeOptions): Promise<Transcription> {
  const { vocabulary, beams, wordModel, sampleRate = RATE, onSegment } = options
  const duration = samples.numel / sampleRate
  const inputs = model.inputs
  const input = inputs?.find(({ name }) => name === 'input_values') ?? inputs?.[0]
  check(input === undefined || input.type === 'Tensor', () => 'transcribe(): expected a model that takes samples, or energies of them')
  const width = options.mel === undefined ? fixedSize(input?.shape?.at(-1)) : null
  const most = options.mel === undefined ? mostOf(input?.shape?.at(-1)) : Infinity
  const all =
    options.normalize === false || options.mel !== undefined ? (samples.data() as Float32Array) : leveled(samples.data() as Float32Array)
  const size = Math.min(width ?? Math.floor(WINDOW * sampleRate), most)
  const frames = new TimedFrames()
  for (const { from, to, first, last } of windowsOf(all.length, size, Math.min(Math.floor(MARGIN * sampleRate), Math.floor(size / 4)))) {
    throwIfAborted(options.signal)
    const part = new Float32Array(width ?? to - from)
    part.set(all.subarray(from, to))
    const logits = await logitsOf(model, inputs ?? [input], input, part, options)
    frames.add(logits, from / sampleRate, part.length / sampleRate, first / sampleRate, last / sampleRate)
    logits.dispose()
  }
  const values = normalized(frames.values(), frames.width)
  const count = values.length / frames.width
  const read = readVocabulary(vocabulary, undefined, frames.width)
  const { text, tokens, logprob, words } = decoded({ count, width: frames.width, values }, read, { beams, wordModel })
  const spoken = words.map((word) => ({
    text: word.text,
    start: frames.times[word.start]!,
    end: Math.min(frames.times[word.end] ?? duration, duration),
  }))
  const segment: SpeechSegment = {
    ...{ start: spoken[0]?.start ?? 0, end: spoken.at(-1)?.end ?? 0, text, tokens },
    ...{ averageLogprob: logprob / count, words: spoken },
  }
  const segments = tokens.length === 0 ? [] : [segment]
  for (const each of segments) onSegment?.(each)
  return { text, segments, language: null, duration }
}

/** Logits of all frames that were taken, and when each begins. */
class TimedFrames {
  width = 0
  readonly times: number[] = []
  private readonly rows: Float32Array[] = []

  /** Those of a window whose middles are from `first` on and before `last`. */
  add(logits: Tensor, start: number, seconds: number, first: number, last: number): void {
    const [count, width] = logits.shape.slice(-2) as [number, number]
    if (this.width !== 0 && width !== this.width)
      throw new PtliteError('MODEL_ERROR', `transcribe(): the model gives logits for ${this.width} tokens, and then for ${width}`)
    this.width = width
    const data = (logits.dtype === 'float32' ? logits : logits.to('float32')).data() as Float32Array
    for (let i = 0; i < count; i++) {
      const middle = start + ((i + 0.5) * seconds) / count
      if (middle < first || middle >= last) continue
      this.rows.push(data.slice(i * width, (i + 1) * width))
      this.times.push(start + (i * seconds) / count)
    }
  }

  values(): Float32Array {
    check(this.rows.length > 0, () => 'transcribe(): the model gives no frames for a sound that short')
    const found = new Float32Array(this.rows.length * this.width)
    for (const [i, row] of this.rows.entries()) found.set(row, i * this.width)
    return found
  }
}

interface Window {
  readonly from: number
  readonly to: number
  /** What is taken of it. */
  readonly first: number
  readonly last: number
}

function* windowsOf(length: number, size: number, margin: number): Generator<Window> {
  for (let from = 0; ; from += size - 2 * margin) {
    const to = Math.min(from + size, length)
    const isLast = to === length
    yield { from, to, first: from === 0 ? 0 : from + margin, last: isLast ? Infinity : to - margin }
    if (isLast) return
  }
}

async function logitsOf(
  model: LanguageModel,
  inputs: readonly (ArgumentInfo | undefined)[],
  input: ArgumentInfo | undefined,
  part: Float32Array,
  options: TranscribeOptions,
): Promise<Tensor> {
  const samples = tensor(part, [1, part.length])
  const value = options.mel === undefined ? samples : energiesOf(samples, input, options)
  const args = inputs.map((each): Input => {
    if (each === undefined || each === input) return value
    if (each.name === 'attention_mask') return tensor(part.map(() => 1), [1, part.length]).to(each.dtype ?? 'int64') // prettier-ignore
    if (each.type.startsWith('Optional')) return null
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `transcribe(): the model takes ${each.name}: ${each.type}, which is not known here; export it without`,
    )
  })
  const output = await model.run('forward', args, options.signal === undefined ? {} : { signal: options.signal })
  for (const each of new Set([samples, ...args])) if (each instanceof Tensor) each.dispose()
  const logits = output instanceof Map ? output.get('logits') : tensorsIn([output])[0]
  if (
    !(logits instanceof Tensor) ||
    !logits.dtype.includes('float') ||
    (logits.dim !== 2 && !(logits.dim === 3 && logits.shape[0] === 1)) ||
    logits.numel === 0
  )
    throw new PtliteError('INVALID_ARGUMENT', 'transcribe(): expected a model that gives logits for each frame, [1, frames, tokens]')
  return logits
}

/** [1, energies, steps], or the other way round where the model's sizes say so. */
function energiesOf(samples: Tensor, input: ArgumentInfo | undefined, { mel, sampleRate = RATE }: TranscribeOptions): Tensor {
  const energies = melSpectrogram(
    samples,
    reading(() => ({ ...mel, sampleRate })),
  )
  const bands = energies.shape[1]!
  const isTurned = fixedSize(input?.shape?.at(-1)) === bands && fixedSize(input?.shape?.at(-2)) !== bands
  return isTurned ? energies.transpose(1, 2).clone() : energies
}

/** Mean 0 and variance 1. */
function leveled(samples: Float32Array): Float32Array {
  let sum = 0
  for (const sample of samples) sum += sample
  const mean = sum / samples.length
  let squares = 0
  for (const sample of samples) squares += (sample - mean) ** 2
  const scale = 1 / Math.sqrt(squares / samples.length + LEAST_VARIANCE)
  return samples.map((sample) => (sample - mean) * scale)
}
