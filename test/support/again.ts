import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { nodeArguments } from './node.js'
import { runLater } from './tap-of-file.js'

const AGAIN = 'PTLITE_TEST_AGAIN'

/** Whether the file is run another time, by `again`. */
export const isAgain = process.env[AGAIN] !== undefined

/** Runs the test file another time with each of these variables of the environment set: in a process with the others of its folder, where it shares one. */
export function again(t: Test, url: string, ...environments: readonly Readonly<Record<string, string>>[]): void {
  if (isAgain) return
  for (const variables of environments) {
    const [env, name] = [{ ...variables, [AGAIN]: '1' }, JSON.stringify(variables)]
    if (!runLater(url, env, name))
      void t.spawn(process.execPath, nodeArguments(fileURLToPath(url)), { env: { ...process.env, ...env } }, name)
  }
}

/** Runs the test file again at the lower levels of the kernels. */
export function atEveryLevel(t: Test, url: string): void {
  if (process.env['ATEN_CPU_CAPABILITY'] === undefined) again(t, url, { ATEN_CPU_CAPABILITY: 'default' }, { ATEN_CPU_CAPABILITY: 'avx2' })
}
