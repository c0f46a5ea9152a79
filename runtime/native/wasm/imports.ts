import type { CodeTable } from './code-table.js'
import type { KernelExports } from './exports.js'

/** What `leave` throws: no error that anybody sees. */
const LEFT = Symbol('left')

/**
 * What kernels ask of JavaScript (kernels/os/wasi/imports.h). A task that is to end is left by an exception of JavaScript: it unwinds the stack of
 * WebAssembly without code in the modules for it.
 */
export function importsFor(
  exports: () => KernelExports,
  code: Pick<CodeTable, 'generate' | 'discard' | 'totals'>,
): Readonly<Record<string, unknown>> {
  return {
    clock: () => performance.now(),
    attempt(task: number, context: number, status: number): number {
      const { memory, __stack_pointer: stack, __indirect_function_table: functions } = exports()
      const before = stack.value
      try {
        const result = functions.get(task)!(context)
        new DataView(memory.buffer).setInt32(status, result, true)
        return 1
      } catch (error) {
        if (error !== LEFT) throw error
        stack.value = before
        return 0
      }
    },
    leave(): never {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw LEFT
    },
    generate: (kind: number, words: number, count: number, user: number) => code.generate(kind, words >>> 0, count, user >>> 0),
    discard: (user: number) => code.discard(user >>> 0),
    generated(functions: number, bytes: number): number {
      const totals = code.totals()
      const view = new DataView(exports().memory.buffer)
      view.setBigInt64(functions >>> 0, BigInt(totals.functions), true)
      view.setBigInt64(bytes >>> 0, BigInt(totals.bytes), true)
      return Number(totals.isOn)
    },
    report(text: number, bytes: number): void {
      console.warn(`ptlite: ${new TextDecoder().decode(new Uint8Array(exports().memory.buffer, text, bytes).slice())}`)
    },
  }
}
