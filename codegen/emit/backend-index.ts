import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BACKEND_FOLDERS, type Operator } from '../model/operator.js'
import { banner } from './file.js'

/** Names that a source exports, itself or of another file. */
function exportsOf(source: string): string[] {
  const own = [...source.matchAll(/^export (?:async )?(?:function\*?|const|let) (\w+)/gm)].map((match) => match[1]!)
  const lists = [...source.matchAll(/^export \{([^}]*)\}/gm)].flatMap((match) => match[1]!.split(','))
  return [
    ...own,
    ...lists.map((item) =>
      item
        .trim()
        .split(/\s+as\s+/)
        .at(-1)!,
    ),
  ]
}

/** runtime/operators/<backend>/index.ts, by path: the files of each backend's folder that export a native function which is declared. */
export function emitBackendIndexes(operators: readonly Operator[], root: string): Map<string, string> {
  return new Map(
    [...BACKEND_FOLDERS].map(([backend, folder]) => {
      const natives = new Set(operators.flatMap((o) => o.branches.filter((b) => b.backend === backend).map((b) => b.kernel)))
      const path = join(root, 'runtime/operators', folder)
      const files = readdirSync(path).filter((name) => name.endsWith('.ts') && name !== 'index.ts')
      const used = files
        .sort()
        .filter((name) => exportsOf(readFileSync(join(path, name), 'utf8')).some((exported) => natives.has(exported)))
      const lines = used.map((name) => `export * from './${name.replace(/\.ts$/, '.js')}'\n`).join('')
      const text = `${banner('backend-index.ts', `the files of runtime/operators/${folder} and codegen/native_functions/*.yaml`)}${lines}`
      return [`runtime/operators/${folder}/index.ts`, text]
    }),
  )
}
