import { type EncoderDecoder, isLanguageModel, type LanguageModel } from '../generation/language-model.js'
import { throwIfAborted } from '../runtime/aborted.js'
import { check } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { transcribeFrames } from './ctc/transcribe.js'
import { checkTranscribe, type TranscribeOptions } from './options.js'
import { monoOf, type SpeechInput } from './sound.js'
import type { Transcription } from './transcription.js'
import { RATE } from './whisper/features.js'
import { transcribeWindows } from './whisper/transcribe.js'

/**
 * Speech as text: `const { text, segments } = await transcribe(model, readWav(bytes), { tokenizer, config })`. Off the event loop.
 *
 * Models of two kinds are recognised by what they take. An encoder and a decoder (`{ encoder, decoder }`, or one program that takes `input_features` and `decoder_input_ids`), such as Whisper, read windows of
 * 30 s, of which the next begins where the last segment ended. A model that takes samples, or with `mel` their energies, and gives logits for each frame (wav2vec 2.0 and its like) is decoded as
 * CTC has it.
 *
 * Throws INVALID_ARGUMENT for options and sounds that are none and for models of other kinds, and what calls throw.
 */
export async function transcribe(
  model: LanguageModel | EncoderDecoder,
  sound: SpeechInput,
  options: TranscribeOptions = {},
): Promise<Transcription> {
  const given = reading(() => {
    checkTranscribe(options)
    const pair = (model ?? {}) as Partial<EncoderDecoder>
    const isModel = isLanguageModel(model) || (isLanguageModel(pair.encoder) && isLanguageModel(pair.decoder))
    check(isModel, () => `transcribe(): expected a model, or { encoder, decoder }, found ${kindOf(model)}`)
    return { ...options }
  })
  const samples = monoOf(sound, given.sampleRate ?? RATE)
  throwIfAborted(given.signal)
  const hasDecoder = 'encoder' in model || model.inputs?.some(({ name }) => name === 'decoder_input_ids') === true
  try {
    return hasDecoder ? await transcribeWindows(model, samples, given) : await transcribeFrames(model as LanguageModel, samples, given)
  } finally {
    samples.dispose()
  }
}
