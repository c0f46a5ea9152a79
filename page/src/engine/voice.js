/** What the network of examples/voice was trained on: one column of a spectrogram for each chunk. */
export const RATE = 16000
export const CHUNK = 512
const MEL = { sampleRate: RATE, nFft: CHUNK, hopLength: CHUNK, nMels: 24, center: false, log: 'natural' }

/** Says of chunk after chunk how likely a voice is in it. */
export class StreamedVoice {
  #ptlite
  #model

  static async open(ptlite, bytes) {
    const voice = new StreamedVoice()
    voice.#ptlite = ptlite
    voice.#model = await ptlite.loadModule(bytes)
    // the first calls compile the model, which is done before anybody speaks
    for (let i = 0; i < 4; i++) voice.hear({ chunk: new Float32Array(CHUNK) })
    voice.reset()
    return voice
  }

  /** The chance of a voice in 512 samples, of 16000 a second; it remembers those before. */
  hear({ chunk }) {
    const { tensor, melSpectrogram } = this.#ptlite
    const samples = tensor(chunk, [1, CHUNK])
    const column = melSpectrogram(samples, MEL)
    const chance = this.#model.forward(column)
    const value = chance.item()
    for (const t of [samples, column, chance]) t.dispose()
    return value
  }

  reset() {
    this.#model.call('reset')
  }

  close() {
    this.#model.dispose()
  }
}
