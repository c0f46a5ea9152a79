import { loadModule } from '../../../src/index.js'
import { ptlite } from '../../cli/in-process.js'
import { callsOf, disposeAll } from '../files/calls.js'
import { codeOf, inFile } from '../files/run-module.js'
import type { Base } from '../harness/target.js'

/** Loads a compiled file, by path or as bytes, and calls the methods that it has plans for twice; shows it as `inspect` does. */
export async function runCompiled(bytes: Buffer, name: string, model: Base, choice: number): Promise<string> {
  const calls = (await callsOf(model)).filter(({ method }) => name.endsWith(` ${method}`))
  const path = (choice & 15) === 0 ? inFile(bytes) : null
  if (path !== null && (choice & 0x30) === 0) {
    const { status, stderr } = await ptlite('inspect', path)
    if (status !== 0 && !/^ptlite: (?!.*INTERNAL)/.test(stderr)) throw new Error(`inspect ends with ${status}: ${stderr}`)
  }
  let outcome = 'ran'
  try {
    const module = await loadModule(path ?? bytes, { onWarning: () => undefined })
    try {
      for (const { method, args } of [...calls, ...calls]) {
        const values = args()
        try {
          disposeAll((choice & 0xf00) === 0 ? await module.run(method, values) : module.call(method, values))
        } catch (error) {
          outcome = codeOf(error)
        } finally {
          disposeAll(values)
        }
      }
    } finally {
      module.dispose()
    }
  } catch (error) {
    outcome = codeOf(error)
  }
  return outcome
}
