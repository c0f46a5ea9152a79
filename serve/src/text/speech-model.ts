import {
  type EncoderDecoder,
  type LanguageModel,
  loadModule,
  loadTokenizer,
  type Module,
  PtliteError,
  readWav,
  type Sound,
  type SpeechSegment,
  transcribe,
  type TranscribeOptions,
} from 'ptlite'
import type { TokenizerPaths } from '../repository/scan.js'
import { fileOf } from './files.js'
import type { TextStart, Transcribed, TranscribeRequest } from './messages.js'
import { Turns } from './turns.js'

const RATE = 16000
/** Samples of the recording that is transcribed before the model is ready: a quarter of a second without a sound. */
const WARM_UP = new Float32Array(RATE / 4)

/** What lies beside the model. */
type About = Partial<Pick<TranscribeOptions, 'tokenizer' | 'config' | 'vocabulary'>>

/** A model of speech, in the thread that runs it. */
export class SpeechModel {
  readonly hasTemplate = false

  private constructor(
    private readonly modules: readonly Module[],
    private readonly model: LanguageModel | EncoderDecoder,
    private readonly about: About,
  ) {}

  /** Throws what is wrong with the files. */
  static async load(start: TextStart, warn: (text: string) => void, onStep: () => void): Promise<SpeechModel> {
    const { path, encoder, compile, map, eval: isOut, bytes, milliseconds } = start
    const limits = bytes === null ? { milliseconds } : { milliseconds, bytes }
    const about = await aboutOf(start.tokenizer)
    const modules: Module[] = []
    try {
      const turns = new Turns(onStep)
      const load = async (file: string): Promise<LanguageModel> => {
        modules.push(await loadModule(file, { compile, map, eval: isOut, onWarning: warn, limits }))
        onStep()
        return turns.modelOf(modules.at(-1)!, limits)
      }
      const last = await load(path)
      const model = encoder === null ? last : { encoder: await load(encoder), decoder: last }
      await transcribe(model, WARM_UP, { ...about, temperature: 0 })
      return new SpeechModel(modules, model, about)
    } catch (error) {
      for (const module of modules) module.dispose()
      throw error
    }
  }

  /** Throws what is wrong with the recording. */
  async transcribe(request: TranscribeRequest, signal: AbortSignal, onSegment: (segment: SpeechSegment) => void): Promise<Transcribed> {
    const { sound, language, task, prompt, temperature, hasWords } = request
    const hasDecoder = this.about.vocabulary === undefined
    if (!hasDecoder && (task === 'translate' || prompt !== null))
      throw new PtliteError(
        'INVALID_ARGUMENT',
        'the model writes down what it hears, and takes neither prompts nor the task of translating',
      )
    const options: TranscribeOptions = {
      ...this.about,
      ...{ signal, onSegment },
      ...(hasDecoder && { task, language: language ?? undefined, prompt: prompt ?? undefined }),
      // 0 is what clients say who mean nothing by it
      ...(hasDecoder && { temperature: temperature === null || temperature === 0 ? undefined : temperature }),
      ...(hasDecoder && hasWords && { timestamps: 'word' as const }),
    }
    const transcription = await transcribe(this.model, soundOf(sound), options)
    return { transcription, tokens: transcription.segments.reduce((sum, { tokens }) => sum + tokens.length, 0) }
  }

  dispose(): void {
    for (const module of this.modules) module.dispose()
  }
}

/** A file that is none is the request's fault, and not the model's. */
function soundOf(bytes: Uint8Array): Sound {
  try {
    return readWav(bytes)
  } catch (error) {
    throw error instanceof PtliteError ? new PtliteError('INVALID_ARGUMENT', `file: ${error.message}`, { cause: error }) : error
  }
}

async function aboutOf({ tokenizer, config, generation, vocabulary }: TokenizerPaths): Promise<About> {
  if (tokenizer === null) return { vocabulary: (await fileOf(vocabulary!)) as Readonly<Record<string, number>> }
  const files = { tokenizer: await fileOf(tokenizer), config: config === null ? undefined : await fileOf(config) }
  return { tokenizer: await loadTokenizer(files), config: generation === null ? undefined : await fileOf(generation) }
}
