import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A server in a process of its own, with the port that it listens on. */
export class Child {
  static async start(name, file, ...args) {
    const child = new Child()
    child.name = name
    child.process = fork(fileURLToPath(new URL(file, import.meta.url)), args)
    const [{ port }] = await Promise.race([
      once(child.process, 'message'),
      once(child.process, 'exit').then(([status]) => Promise.reject(new Error(`${name} ended with status ${status}`))),
    ])
    child.port = port
    child.url = `http://127.0.0.1:${port}`
    return child
  }

  /** How late its timers were, and its resident set. */
  async ask() {
    this.process.send('event loop')
    const [answer] = await once(this.process, 'message')
    return answer
  }

  async end() {
    if (this.process.exitCode !== null) return this.process.exitCode
    this.process.kill()
    const [status, signal] = await once(this.process, 'exit')
    return status ?? signal
  }
}
