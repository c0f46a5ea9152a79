// The runtimes that are compared. Each has `load(file, input)`, which resolves to its first output as a
// Float32Array, and `time(runs)`, which resolves to the milliseconds of each run. All use one thread.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { loadModule, Tensor } from '../../dist/index.js'
import { readNpy } from './npy.mjs'

export class Ptlite {
  name = 'ptlite'
  #module
  #input

  async load(file, input) {
    this.#module?.dispose()
    this.#module = await loadModule(file)
    const { dtype, shape, data } = readNpy(input)
    this.#input = Tensor.fromStorage(data, { dtype, shape })
    const output = this.#module.forward(this.#input)
    const values = Float32Array.from(output.data())
    output.dispose()
    return values
  }

  async time(runs) {
    const times = []
    for (let i = 0; i < runs; i++) {
      const start = performance.now()
      const output = this.#module.forward(this.#input)
      times.push(performance.now() - start)
      output.dispose()
    }
    return times
  }

  async close() {}
}

export class TorchLite {
  name = 'PyTorch lite'
  #process
  #waiting = []
  #lines

  static async start(python = process.env.PYTHON ?? 'python3') {
    const peer = new TorchLite()
    const script = fileURLToPath(new URL('torch_peer.py', import.meta.url))
    const environment = { ...process.env, OMP_NUM_THREADS: '1', PYTHONWARNINGS: 'ignore' }
    peer.#process = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'], env: environment })
    peer.#lines = createInterface({ input: peer.#process.stdout })
    peer.#lines.on('line', (line) => peer.#waiting.shift()?.resolve(JSON.parse(line)))
    const failed = (error) => peer.#waiting.splice(0).forEach((w) => w.reject(error))
    peer.#process.on('error', failed)
    peer.#process.on('exit', (code) => failed(new Error(`${python} left with status ${code}; on Debian: apt-get install python3-torch`)))
    peer.version = (await peer.#answer()).version
    return peer
  }

  #answer() {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  #ask(request) {
    const answer = this.#answer()
    this.#process.stdin.write(`${JSON.stringify(request)}\n`)
    return answer
  }

  async load(file, input) {
    const { output } = await this.#ask({ load: file, input })
    return new Float32Array(new Uint8Array(Buffer.from(output, 'base64')).buffer)
  }

  async time(runs) {
    return (await this.#ask({ runs })).ms
  }

  async close() {
    this.#process.stdin.end()
  }
}

export class OnnxRuntime {
  name = 'onnxruntime'
  #runtime
  #session
  #feeds

  /** null where the package is not installed. */
  static async start() {
    try {
      const peer = new OnnxRuntime()
      peer.#runtime = (await import('onnxruntime-node')).default
      peer.version = peer.#runtime.env.versions?.node ?? ''
      return peer
    } catch (error) {
      console.error(`onnxruntime-node is left out: ${error.message.split('\n')[0]}; run npm ci in bench/`)
      return null
    }
  }

  async load(file, input) {
    await this.#session?.release()
    this.#session = await this.#runtime.InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 })
    const { dtype, shape, data } = readNpy(input)
    this.#feeds = { input: new this.#runtime.Tensor(dtype, data, shape) }
    return Float32Array.from((await this.#session.run(this.#feeds)).output.data)
  }

  async time(runs) {
    const times = []
    for (let i = 0; i < runs; i++) {
      const start = performance.now()
      await this.#session.run(this.#feeds)
      times.push(performance.now() - start)
    }
    return times
  }

  async close() {
    await this.#session?.release()
  }
}
