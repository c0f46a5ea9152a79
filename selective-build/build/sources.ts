import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { PROCESSOR_FOLDERS } from '../../runtime/native/generated/targets.js'

/** The folder of this processor below kernels/arch/. */
export const PROCESSOR = PROCESSOR_FOLDERS[process.arch] ?? 'generic'

/** Folders below kernels/ whose files hold kernels: generated code is that of the processor, or none. */
const withKernels = (root: string, processor: string): string[] => {
  const own = `arch/${processor}/jit`
  return ['ops', 'jit', existsSync(join(root, 'kernels', own)) ? own : 'arch/generic/jit']
}
/** Where headers are looked for that are not beside the file, as in CMakeLists.txt. */
const included = (processor: string): string[] => ['', `arch/${processor}`, 'arch/generic']

/** The kernels of each file of kernels/ops and the processor's generators of code, by name such as `ops/elementwise/unary.cpp`. */
export function kernelsBySource(root: string, processor: string = PROCESSOR): Map<string, string[]> {
  return new Map(
    withKernels(root, processor).flatMap((folder) =>
      readdirSync(join(root, 'kernels', folder), { encoding: 'utf8', recursive: true })
        .filter((name) => name.endsWith('.cpp'))
        .map((name): [string, string[]] => {
          const text = readFileSync(join(root, 'kernels', folder, name), 'utf8')
          return [`${folder}/${name}`, [...text.matchAll(/^PTLITE_KERNEL\((\w+),/gm)].map((match) => match[1]!)]
        }),
    ),
  )
}

/** Files that hold the kernels, and those that hold what their headers declare: ops/gemm/gemm_core.cpp for ops/gemm/gemm_core.h. */
export function sourcesOfKernels(root: string, kernels: ReadonlySet<string>, processor: string = PROCESSOR): string[] {
  const bySource = kernelsBySource(root, processor)
  const folders = included(processor)
  // beside the header, or anywhere for headers of vec/, support/ and jit/; what is compiled once defines what others improve
  const implementationOf = (header: string): string | undefined => {
    const name = basename(header, '.h')
    const folder = dirname(header)
    const anywhere = ['vec', 'support', 'jit'].includes(folder)
    const files = [...bySource.keys()].filter((file) => anywhere || dirname(file) === folder)
    return [`${name}.once.cpp`, `${name}.cpp`]
      .map((wanted) => files.find((file) => basename(file) === wanted))
      .find((file) => file !== undefined)
  }
  const chosen = new Set<string>()
  const seen = new Set<string>()
  const visit = (file: string): void => {
    const path = join(root, 'kernels', file)
    if (seen.has(file) || !existsSync(path)) return
    seen.add(file)
    if (file.endsWith('.cpp')) chosen.add(file)
    for (const [, text] of readFileSync(path, 'utf8').matchAll(/^#include "([^"]+)"/gm)) {
      // beside the file first, as the compiler looks
      const header = [dirname(file), ...folders]
        .map((folder) => join(folder, text!))
        .find((name) => existsSync(join(root, 'kernels', name)))
      if (header === undefined) continue
      visit(header)
      const implementation = implementationOf(header)
      if (implementation !== undefined) visit(implementation)
    }
  }
  for (const [source, names] of bySource) if (names.some((name) => kernels.has(name))) visit(source)
  return [...chosen].sort()
}
