import type { Test } from 'tap'
import { fileURLToPath } from 'node:url'
import { nodeArguments } from '../../support/node.js'

/** Runs the test file again at the lower levels of the kernels, each in a process of its own. */
export function atEveryLevel(t: Test, url: string): void {
  if (process.env['ATEN_CPU_CAPABILITY'] !== undefined) return
  for (const level of ['default', 'avx2']) {
    void t.spawn(
      process.execPath,
      nodeArguments(fileURLToPath(url)),
      { env: { ...process.env, ATEN_CPU_CAPABILITY: level } },
      `level ${level}`,
    )
  }
}
