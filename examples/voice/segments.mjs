/** Makes segments of chances: one begins where a voice is likely, and ends where there has been none for a while. Very short ones are left out. */
export class Segments {
  #seconds
  #count = 0
  #from = null
  #quiet = 0

  /** `seconds`: how long a chunk is. */
  constructor(seconds) {
    this.#seconds = seconds
  }

  /** The chance of the next chunk. Returns the segment { from, to } in seconds that is known to have ended by now, if one has. */
  add(chance, { begin = 0.6, stay = 0.35, pause = 0.3, least = 0.1 } = {}) {
    this.#count++
    if (this.#from === null && chance > begin) this.#from = this.#count - 1
    this.#quiet = chance > stay ? 0 : this.#quiet + 1
    return this.#quiet * this.#seconds >= pause ? this.end(least) : null
  }

  /** The segment that has not ended yet, if there is one. */
  end(least = 0.1) {
    if (this.#from === null) return null
    const segment = { from: this.#from * this.#seconds, to: (this.#count - this.#quiet) * this.#seconds }
    this.#from = null
    return segment.to - segment.from < least ? null : segment
  }
}
