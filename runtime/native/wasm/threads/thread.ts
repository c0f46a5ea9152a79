/** The program of a thread: an instance of the kernels on the memory of the first one. Bundled as a file of its own, dist/web/thread.js. */
import type { ThreadExports } from '../exports.js'
import { importsFor } from '../imports.js'
import { webAssembly } from '../web-assembly.js'
import { CodeReader } from './code-list.js'
import type { Order, Said, Start } from './messages.js'

interface Port {
  onmessage: ((event: { readonly data: unknown }) => void) | null
  postMessage(message: Said): void
  close(): void
}

interface Scope extends Port {
  readonly process?: { getBuiltinModule?(name: string): { readonly parentPort: Port | null } }
}

const scope = globalThis as unknown as Scope
const port: Port = scope.process?.getBuiltinModule?.('worker_threads').parentPort ?? scope

port.onmessage = ({ data }) => {
  begin(data as Start)
}

function begin({ module, memory, stack, locals, origin, isHelper }: Start): void {
  const noCode = { generate: () => 0, discard: () => undefined, totals: () => ({ isOn: false, functions: 0, bytes: 0 }) }
  /** Of the first thread's clock when this one's was 0. */
  const before = performance.timeOrigin - origin
  const own = { clock: () => before + performance.now(), learn: () => reader.learn() }
  const ptlite = { ...importsFor(() => exports, noCode), ...own }
  const exports = new webAssembly!.Instance(module, { env: { memory }, ptlite }).exports as ThreadExports
  exports.__stack_pointer.value = stack
  exports.__wasm_init_tls(locals)
  exports.ptlite_thread_begin(0, 1)
  const reader = new CodeReader(memory, exports, exports.ptlite_code_list())
  const end = (): void => {
    exports.ptlite_thread_end()
    port.postMessage('ended')
    port.close()
  }
  /** What a trap leaves behind is not known: this instance does nothing more. */
  const trapped = (error: unknown): void => {
    exports.__stack_pointer.value = stack
    exports.ptlite_abandon()
    port.postMessage({ trap: error instanceof Error ? error.message : String(error) })
    port.close()
  }
  const guarded = (task: () => void): void => {
    try {
      task()
    } catch (error) {
      trapped(error)
    }
  }
  port.postMessage('begun')
  if (isHelper) {
    guarded(() => {
      exports.ptlite_help()
      end()
    })
    return
  }
  port.onmessage = ({ data }) => {
    const order = data as Order
    guarded(() => {
      if (order === 'end') {
        end()
        return
      }
      // the kernel may be one of those that are apart
      reader.learn()
      port.postMessage({ status: exports.ptlite_launch(order.frame, 0) })
    })
  }
}
