// Runs on the thread of the sound: collects samples of the first channel to chunks, which the page gets.
class Chunks extends AudioWorkletProcessor {
  #chunk
  #filled = 0

  constructor({ processorOptions }) {
    super()
    this.#chunk = new Float32Array(processorOptions.chunk)
  }

  process([[samples]]) {
    let at = 0
    while (samples !== undefined && at < samples.length) {
      const part = samples.subarray(at, at + this.#chunk.length - this.#filled)
      this.#chunk.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled < this.#chunk.length) continue
      const whole = this.#chunk
      this.#chunk = new Float32Array(whole.length)
      this.#filled = 0
      this.port.postMessage(whole, [whole.buffer])
    }
    return true
  }
}

registerProcessor('chunks', Chunks)
