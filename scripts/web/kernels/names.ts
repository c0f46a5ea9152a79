import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readKernels } from '../../../codegen/generate.js'

/** Names of all kernels, by their numbers. */
export function kernelNames(): readonly string[] {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  return readKernels(join(root, 'codegen/kernels'), root).kernels.map(({ name }) => name)
}
