// The runtimes that are compared. Each has `load(file, input, threads)`, which resolves to its first output as a
// Float32Array, and `time(runs)`, which resolves to the milliseconds of each run.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadModule, setNumThreads, Tensor } from '../../dist/index.js'
import { now } from './clock.mjs'
import { LineProcess } from './line-process.mjs'
import { readNpy } from './npy.mjs'

export class Ptlite {
  #compile
  #module
  #input
  #threads
  #library
  #options

  /** `compile`, `options`: see `loadModule`. `library`: that of browsers in place of Node's. */
  constructor(name = 'ptlite', compile = 'auto', library = { loadModule, setNumThreads, Tensor }, options = {}) {
    this.name = name
    this.#compile = compile
    this.#library = library
    this.#options = options
  }

  async load(file, input, threads = 1) {
    const { loadModule, setNumThreads, Tensor } = this.#library
    this.#threads = threads
    setNumThreads(threads)
    await this.#library.ready?.()
    this.#module?.dispose()
    this.#module = await loadModule(file, { compile: this.#compile, ...this.#options })
    const { dtype, shape, data } = readNpy(input)
    this.#input = Tensor.fromStorage(data, { dtype, shape })
    // a network in 16 bits takes floats of its own
    if (dtype === 'float32' && file.includes('bfloat16')) this.#input = this.#input.to('bfloat16')
    const output = this.#module.forward(this.#input)
    const values = Float32Array.from((output.dtype === 'bfloat16' ? output.to('float32') : output).data())
    output.dispose()
    return values
  }

  async time(runs) {
    this.#library.setNumThreads(this.#threads)
    // threads of pages come when others have had their turn
    await this.#library.ready?.()
    const times = []
    for (let i = 0; i < runs; i++) {
      const start = now()
      const output = this.#module.forward(this.#input)
      times.push(now() - start)
      output.dispose()
    }
    return times
  }

  async close() {
    this.#module?.dispose()
  }
}

/** A Python process with PyTorch. */
class Torch {
  #process

  constructor(name) {
    this.name = name
  }

  async start(script, python) {
    this.#process = new LineProcess(fileURLToPath(new URL(script, import.meta.url)), python)
    this.version = (await this.#process.answer()).version
    return this
  }

  async load(file, input, threads = 1) {
    const { output } = await this.#process.ask({ load: file, input, threads })
    return new Float32Array(new Uint8Array(Buffer.from(output, 'base64')).buffer)
  }

  async time(runs) {
    return (await this.#process.ask({ runs })).ms
  }

  async close() {
    this.#process.close()
  }
}

export class TorchLite extends Torch {
  static start() {
    return new Torch('PyTorch lite').start('torch_peer.py')
  }
}

/** Loads layers of models/transformer_layers.py by their names. */
export class TorchEager extends Torch {
  static start(python) {
    return new Torch('PyTorch eager').start('torch_eager_peer.py', python)
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

  async load(file, input, threads = 1) {
    await this.#session?.release()
    this.#session = undefined
    this.#session = await this.#runtime.InferenceSession.create(file, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
    })
    const { dtype, shape, data } = readNpy(input)
    this.#feeds = { input: new this.#runtime.Tensor(dtype, data, shape) }
    return Float32Array.from((await this.#session.run(this.#feeds)).output.data)
  }

  async time(runs) {
    const times = []
    for (let i = 0; i < runs; i++) {
      const start = now()
      await this.#session.run(this.#feeds)
      times.push(now() - start)
    }
    return times
  }

  async close() {
    await this.#session?.release()
  }
}

/** onnxruntime in WebAssembly, as browsers have it, in Node. */
export class OnnxRuntimeWeb {
  name = 'onnxruntime-web'
  #runtime
  #session
  #feeds

  static async start(threads = 1) {
    const peer = new OnnxRuntimeWeb()
    peer.#runtime = await import('onnxruntime-web')
    peer.#runtime.env.wasm.numThreads = threads
    peer.#runtime.env.logLevel = 'error'
    peer.version = peer.#runtime.env.versions?.web ?? ''
    return peer
  }

  async load(file, input) {
    await this.#session?.release()
    this.#session = undefined
    this.#session = await this.#runtime.InferenceSession.create(readFileSync(file), { executionProviders: ['wasm'], logSeverityLevel: 3 })
    const { dtype, shape, data } = readNpy(input)
    this.#feeds = { input: new this.#runtime.Tensor(dtype, data, shape) }
    return Float32Array.from((await this.#session.run(this.#feeds)).output.data)
  }

  async time(runs) {
    const times = []
    for (let i = 0; i < runs; i++) {
      const start = now()
      await this.#session.run(this.#feeds)
      times.push(now() - start)
    }
    return times
  }

  async close() {
    await this.#session?.release()
  }
}
