import { connect } from 'node:net'

const END_OF_HEAD = '\r\n\r\n'

/** An HTTP/1.1 connection that carries one request at a time, always the same. It reads no more of answers than it has to: a load generator takes processors that the server needs. */
export class Connection {
  /** Gets the status of the answer; 0 where the connection ended. */
  #answered = null
  #head = ''
  /** Bytes of the body that are to come; null before its head has come. */
  #left = null
  #socket
  #request

  constructor(url, { headers, body }) {
    const { hostname, port, host, pathname } = new URL(url)
    const fields = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    this.#request = Buffer.concat([Buffer.from(`POST ${pathname} HTTP/1.1\r\n${fields.join('')}\r\n`), Buffer.from(body)])
    const onread = { buffer: Buffer.allocUnsafe(1 << 16), callback: (size, buffer) => this.#receive(buffer.subarray(0, size)) }
    this.#socket = connect({ host: hostname, port, noDelay: true, onread })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.#answer(0))
  }

  send(answered) {
    if (this.#socket.destroyed) return void setImmediate(answered, 0)
    this.#answered = answered
    this.#socket.write(this.#request)
  }

  end() {
    this.#socket.destroy()
  }

  #receive(chunk) {
    if (this.#left !== null) this.#left -= chunk.length
    else {
      this.#head += chunk.latin1Slice()
      const end = this.#head.indexOf(END_OF_HEAD)
      if (end >= 0) this.#left = Number(/content-length: *(\d+)/i.exec(this.#head)[1]) - (this.#head.length - end - END_OF_HEAD.length)
    }
    if (this.#left === 0) this.#answer(Number(this.#head.split(' ', 2)[1]))
    return true
  }

  #answer(status) {
    const answered = this.#answered
    this.#answered = this.#left = null
    this.#head = ''
    answered?.(status)
  }
}
