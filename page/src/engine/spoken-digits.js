import { openReader } from '../../models/spoken-digits/reader.mjs'
import { StreamedVoice } from './voice.js'

/** Beginnings that the search for the likeliest words follows. */
const BEAMS = 8

/** Reads spoken digits, and says of chunk after chunk how likely a voice is in it. */
export class SpokenDigits {
  #voice
  #reader

  static async open(ptlite, { voice, model, vocabulary, words }) {
    const digits = new SpokenDigits()
    digits.#voice = await StreamedVoice.open(ptlite, voice)
    digits.#reader = await openReader(ptlite, { model, vocabulary, words })
    // the first call compiles the model, which is done before anybody speaks
    await digits.read({ samples: new Float32Array(16000) })
    return digits
  }

  hear(input) {
    return this.#voice.hear(input)
  }

  reset() {
    this.#voice.reset()
  }

  /** What is said in samples, of 16000 a second. */
  async read({ samples }) {
    const { text } = await this.#reader.read(samples, { beams: BEAMS })
    return text
  }

  close() {
    this.#voice.close()
    this.#reader.close()
  }
}
