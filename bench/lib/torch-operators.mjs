import { fileURLToPath } from 'node:url'
import { LineProcess } from './line-process.mjs'

/** PyTorch's lite interpreter on the modules of ops/rows.py, which it also writes. */
export class TorchOperators {
  #process

  static async start() {
    const peer = new TorchOperators()
    peer.#process = new LineProcess(fileURLToPath(new URL('../ops/peer.py', import.meta.url)))
    const { version, operators } = await peer.#process.answer()
    peer.version = version
    peer.operators = operators
    return peer
  }

  async load(operator, elements, file) {
    await this.#process.ask({ operator, elements, file })
  }

  async time(times) {
    return (await this.#process.ask({ times, runs: 1 })).ms[0]
  }

  async close() {
    this.#process.close()
  }
}
