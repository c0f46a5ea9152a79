/** An error of the library or of a model, with its code. */
export class EngineError extends Error {
  constructor({ message, code, name }) {
    super(message)
    this.name = name
    this.code = code
  }
}

/** The worker that models run in, as promises. */
export class Engine {
  #worker
  #waiting = new Map()
  #next = 1

  constructor() {
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'ptlite' })
    this.#worker.onmessage = ({ data: { id, result, error } }) => {
      const { resolve, reject } = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) resolve(result)
      else reject(new EngineError(error))
    }
    this.#worker.onerror = (event) => {
      event.preventDefault()
      const error = new EngineError({
        message: event.message || 'The library cannot be loaded; reload the page to try again',
        code: null,
        name: 'Error',
      })
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
  }

  /** `transfer`: buffers of the input that this page gives up. */
  call(call, session, input, transfer = []) {
    return new Promise((resolve, reject) => {
      const id = this.#next++
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ id, call, session, input }, transfer)
    })
  }
}
