import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PtliteError } from '../../runtime/error.js'
import type { Target } from './target.js'

/**
 * The declarations of a selective build: those of the whole library with only the given values, and all types, exported. Throws
 * INVALID_ARGUMENT where the library has not been built.
 */
export function declarationsFor(root: string, exports: readonly string[], target: Target): string {
  const kept = new Set(exports)
  return declarationsIn(root, target).replace(/^export \{([^}]*)\};?\s*$/m, (_all, list: string) => {
    const names = list.split(',').map((item) => item.trim())
    const chosen = names.filter((name) => name.startsWith('type ') || kept.has(name.split(' as ').pop()!))
    return `export { ${chosen.join(', ')} };\n`
  })
}

function declarationsIn(root: string, { name }: Target): string {
  const path = join(root, name === 'wasm32' ? 'dist/web.d.ts' : 'dist/index.d.ts')
  if (!existsSync(path)) throw new PtliteError('INVALID_ARGUMENT', `${path} is missing; run 'npm run build' first`)
  return readFileSync(path, 'utf8')
}
