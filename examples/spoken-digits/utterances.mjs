/**
 * Cuts a stream of samples into utterances, by the chance of a voice in each chunk: one begins where a voice is likely, with a little of what came before, and ends where
 * there has been none for a while. While it goes on, it is given from time to time as far as it has come.
 */
export class Utterances {
  #rate
  #chunks = []
  #quiet = 0
  #voiced = 0
  #since = 0
  #isOpen = false

  /** `rate`: samples a second. */
  constructor(rate) {
    this.#rate = rate
  }

  /** The next chunk. Gives { samples, isWhole } where there is something to read, else null. Times are in seconds. */
  add(chunk, chance, { begin = 0.6, stay = 0.35, before = 0.3, pause = 0.5, every = 0.5, least = 0.1, most = 20 } = {}) {
    const seconds = chunk.length / this.#rate
    this.#chunks.push(chunk)
    if (!this.#isOpen) {
      if (chance <= begin) {
        while (this.#seconds() > before) this.#chunks.shift()
        return null
      }
      this.#isOpen = true
      this.#quiet = this.#voiced = this.#since = 0
    }
    this.#quiet = chance > stay ? 0 : this.#quiet + seconds
    if (chance > stay) this.#voiced += seconds
    this.#since += seconds
    if (this.#quiet >= pause || this.#seconds() >= most) return this.end(least)
    if (this.#since < every) return null
    this.#since = 0
    return { samples: this.#joined(), isWhole: false }
  }

  /** What has not ended yet. */
  end(least = 0.1) {
    const samples = this.#joined()
    const isSpoken = this.#isOpen && this.#voiced >= least
    this.#chunks = []
    this.#isOpen = false
    return isSpoken ? { samples, isWhole: true } : null
  }

  #seconds() {
    return this.#chunks.reduce((sum, { length }) => sum + length, 0) / this.#rate
  }

  #joined() {
    const samples = new Float32Array(this.#chunks.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const chunk of this.#chunks) {
      samples.set(chunk, at)
      at += chunk.length
    }
    return samples
  }
}
