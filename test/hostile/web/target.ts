import type { Module } from '../../../src/index.js'
import { webLibrary } from '../../support/web.js'
import { callsOf, disposeAll } from '../files/calls.js'
import { codeOf, MAX_CALLS, MAX_ITERATIONS, MAX_MILLISECONDS } from '../files/run-module.js'
import { target as filesTarget } from '../files/target.js'
import type { Target } from '../harness/target.js'

/** Model files in the library for browsers, whose kernels would trap where others end the process. */
export async function target(): Promise<Target> {
  const { loadModule } = await webLibrary()
  return {
    ...filesTarget(),
    async run(bytes, base, choice) {
      const calls = await callsOf(base)
      const isCompiled = (choice & 0x700) === 0
      let module: Module | undefined
      let outcome = 'ran'
      try {
        module = await loadModule(new Uint8Array(bytes), {
          compile: isCompiled ? 'eager' : 'off',
          maxIterations: MAX_ITERATIONS,
          limits: { milliseconds: MAX_MILLISECONDS },
          onWarning: () => undefined,
        })
        const { methods } = module
        for (const { method, args } of calls.filter((call) => methods.includes(call.method)).slice(0, MAX_CALLS)) {
          // tensors of Node's library, which are copied
          const values = args()
          try {
            for (let call = isCompiled ? 2 : 1; call > 0; call--) disposeAll(module.call(method, values))
          } catch (error) {
            outcome = kernelCodeOf(error)
          } finally {
            disposeAll(values)
          }
        }
      } catch (error) {
        outcome = kernelCodeOf(error)
      } finally {
        module?.dispose()
      }
      return outcome
    },
  }
}

/** As codeOf. Kernels that ended by a trap run no more: neither does this process, which is a finding. */
function kernelCodeOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'NATIVE_LIBRARY') process.abort()
  return code
}
