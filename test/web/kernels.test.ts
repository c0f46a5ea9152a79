import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { frameBytes, i32 } from '../../runtime/native/wasm/frame-memory.js'
import { highestWasmLevel } from '../../runtime/native/wasm/features.js'
import { Kernels } from '../../runtime/native/wasm/kernels.js'
import { webAssembly } from '../../runtime/native/wasm/web-assembly.js'
import { withoutWeb } from '../support/web.js'

/** Kernels of WebAssembly by their frames, without what checks these. */

const compiled = (): ReturnType<typeof newModule> =>
  newModule(readFileSync(fileURLToPath(new URL('../../dist/web/ptlite.wasm', import.meta.url))))
const newModule = (bytes: Uint8Array) => new webAssembly!.Module(bytes)

/** The number of a kernel. */
function numberOf(kernels: Kernels, name: string): number {
  for (let id = 0; id < kernels.exports.ptlite_kernel_count(); id++) {
    const memory = new Uint8Array(kernels.exports.memory.buffer)
    const at = kernels.exports.ptlite_kernel_name(id)
    if (Buffer.from(memory.subarray(at, memory.indexOf(0, at))).toString() === name) return id
  }
  throw new Error(`no kernel ${name}`)
}

/** Sets `bytes` bytes at an address. */
function fill(kernels: Kernels, address: number, bytes: number): number {
  frameBytes.fill(0)
  i32[0] = numberOf(kernels, 'mem_fill')
  i32[4] = address
  i32[6] = bytes
  i32[8] = 1
  return kernels.launch(null)
}

t.test('the level is one that this engine takes', { skip: withoutWeb }, (t) => {
  t.match(highestWasmLevel(), /^(DEFAULT|RELAXED)$/)
  t.end()
})

t.test('memory grows, and the frame stays in it', { skip: withoutWeb }, (t) => {
  const kernels = Kernels.of(compiled())
  const before = kernels.exports.memory.buffer
  const address = kernels.take(64 << 20)
  t.not(kernels.exports.memory.buffer, before)
  t.equal(address % 64, 0)
  t.equal(fill(kernels, address, 64 << 20), 0)
  t.equal(new Uint8Array(kernels.exports.memory.buffer)[address + (64 << 20) - 1], 1)
  kernels.give(address)
  const size = kernels.exports.memory.buffer.byteLength
  for (let i = 0; i < 20; i++) kernels.give(kernels.take((60 + (i % 4)) << 20))
  t.equal(kernels.exports.memory.buffer.byteLength, size, 'what was given back is used again')
  t.throws(() => kernels.take(2 ** 33), { code: 'OUT_OF_MEMORY' })
  t.throws(() => kernels.take(2 ** 32 - 65), { code: 'OUT_OF_MEMORY' })
  t.equal(fill(kernels, kernels.take(64), 64), 0, 'and it goes on')
  t.end()
})

t.test('a trap is an error, and no kernel runs after it', { skip: withoutWeb }, (t) => {
  const kernels = Kernels.of(compiled())
  t.throws(() => fill(kernels, 0xfffffff0, 0x1000), {
    name: 'PtliteError',
    code: 'INTERNAL',
    message: /kernel mem_fill: memory access out of bounds/,
  })
  t.throws(() => fill(kernels, kernels.exports.aligned_alloc(64, 64), 64), { name: 'PtliteError', code: 'NATIVE_LIBRARY', message: /trap/ })
  t.throws(() => kernels.take(64), { code: 'NATIVE_LIBRARY' })
  const other = Kernels.of(compiled())
  t.equal(fill(other, other.take(64), 64), 0, 'another instance is none the worse for it')
  t.end()
})
