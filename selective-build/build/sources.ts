import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const FOLDERS = ['base', 'ops', 'jit'] as const

/** The kernels of each file of kernels/base, kernels/ops and kernels/jit, by name such as `ops/unary.cpp`. */
export function kernelsBySource(root: string): Map<string, string[]> {
  return new Map(
    FOLDERS.flatMap((folder) =>
      readdirSync(join(root, 'kernels', folder))
        .filter((name) => name.endsWith('.cpp'))
        .map((name): [string, string[]] => {
          const text = readFileSync(join(root, 'kernels', folder, name), 'utf8')
          return [`${folder}/${name}`, [...text.matchAll(/^PTLITE_KERNEL\((\w+),/gm)].map((match) => match[1]!)]
        }),
    ),
  )
}

/** Files that hold the kernels, and those that hold what their headers declare: ops/gemm_core.cpp for ops/gemm_core.h. */
export function sourcesOfKernels(root: string, kernels: ReadonlySet<string>): string[] {
  const bySource = kernelsBySource(root)
  // beside the header, or in base/ or ops/ for headers of vec/ and support/
  const implementationOf = (header: string): string | undefined => {
    const name = basename(header, '.h')
    const folder = dirname(header)
    const places = folder === 'vec' || folder === 'support' ? FOLDERS : [folder]
    return places.map((place) => `${place}/${name}.cpp`).find((file) => bySource.has(file))
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
      const beside = join(dirname(file), text!)
      const included = existsSync(join(root, 'kernels', beside)) ? beside : text!
      visit(included)
      const implementation = included.startsWith('frames/') ? undefined : implementationOf(included)
      if (implementation !== undefined) visit(implementation)
    }
  }
  for (const [source, names] of bySource) if (names.some((name) => kernels.has(name))) visit(source)
  return [...chosen].sort()
}
