import { Worker } from 'node:worker_threads'

/** Threads with a model each. A request waits for the first that is free; one that dies is replaced. */
export class Pool {
  #waiting = []
  #free = []
  #workers = new Set()
  #file
  #isClosed = false

  constructor(file, size) {
    this.#file = file
    for (let i = 0; i < size; i++) this.#add()
  }

  /** What a thread answers to `message`. */
  run(message) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, resolve, reject })
      this.#next()
    })
  }

  async close() {
    this.#isClosed = true
    await Promise.all([...this.#workers].map((worker) => worker.terminate()))
  }

  #add() {
    const worker = new Worker(this.#file)
    let current = null
    const settle = (how, value) => {
      current?.[how](value)
      current = null
    }
    worker.on('message', ({ value, error }) => {
      if (error === undefined) settle('resolve', value)
      else settle('reject', new Error(error))
      this.#free.push(start)
      this.#next()
    })
    worker.on('error', (error) => settle('reject', error))
    worker.on('exit', () => {
      settle('reject', new Error('the thread has ended'))
      this.#workers.delete(worker)
      this.#free = this.#free.filter((one) => one !== start)
      if (!this.#isClosed) this.#add()
    })
    const start = (task) => {
      current = task
      worker.postMessage(task.message)
    }
    this.#workers.add(worker)
    this.#free.push(start)
    this.#next()
  }

  #next() {
    while (this.#free.length > 0 && this.#waiting.length > 0) this.#free.shift()(this.#waiting.shift())
  }
}
