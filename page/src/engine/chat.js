/** Tokens of an answer, at most. */
const MAX_TOKENS = 160

/** A conversation with a language model: `say` begins an answer, `more` gives the next piece of it. */
export class Chat {
  #model
  #session
  #tokenizer
  #generation = null

  /** `libraries` are what reads tokenizers and templates of chats. */
  static async open(ptlite, libraries, { bytes, tokenizer, config }) {
    const chat = new Chat()
    chat.#tokenizer = await ptlite.loadTokenizer({ tokenizer, config }, libraries)
    chat.#model = await ptlite.loadModule(bytes)
    // keeps what it has seen from one answer to the next
    chat.#session = await ptlite.openSession(chat.#model)
    return chat
  }

  /** Begins the answer to the last of the messages. */
  async say({ messages, temperature }) {
    await this.stop()
    const tokenizer = this.#tokenizer
    const drawing = temperature === 0 ? {} : { temperature, topP: 0.95 }
    const options = { tokenizer, stop: tokenizer.endTokens, maxTokens: MAX_TOKENS, ...drawing }
    this.#generation = this.#session.generate(tokenizer.chat(messages), options)
  }

  /** The next piece of the answer; null behind its end. What it took so far is in tokens and milliseconds. */
  async more() {
    const generation = this.#generation
    if (generation === null) return { text: null, usage: null }
    const { value, done } = await generation.next()
    const { completionTokens, firstTokenMilliseconds, milliseconds } = generation.usage
    if (done) this.#generation = null
    return { text: done ? null : value.text, usage: { completionTokens, firstTokenMilliseconds, milliseconds } }
  }

  /** No more of the answer is wanted. */
  async stop() {
    const generation = this.#generation
    this.#generation = null
    await generation?.return()
  }

  async close() {
    await this.stop()
    this.#session.dispose()
    this.#model.dispose()
  }
}
