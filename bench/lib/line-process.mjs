import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A Python process that answers each line of JSON on its standard input with one on its standard output. */
export class LineProcess {
  #process
  #waiting = []

  constructor(script, python = process.env.PYTHON ?? 'python3', { stderr = 'inherit' } = {}) {
    const env = { ...process.env, OMP_NUM_THREADS: '1', PYTHONWARNINGS: 'ignore' }
    this.#process = spawn(python, [script], { stdio: ['pipe', 'pipe', stderr], env })
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#waiting.shift()?.resolve(JSON.parse(line)))
    const failed = (error) => this.#waiting.splice(0).forEach((w) => w.reject(error))
    this.#process.on('error', failed)
    this.#process.on('exit', (code) => failed(new Error(`${python} left with status ${code}; on Debian: apt-get install python3-torch`)))
  }

  /** The next line it prints unasked: what it says at its start. */
  answer() {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  ask(request) {
    const answer = this.answer()
    this.#process.stdin.write(`${JSON.stringify(request)}\n`)
    return answer
  }

  close() {
    this.#process.stdin.end()
  }
}
