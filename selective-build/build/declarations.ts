import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { PtliteError } from '../../runtime/error.js'
import type { Target } from './target.js'

/**
 * The declarations of a selective build: those of the whole library with only the given values, and all types, exported. Throws
 * INVALID_ARGUMENT where the library has not been built.
 */
export function declarationsFor(root: string, exports: readonly string[], target: Target): string {
  const kept = new Set(exports)
  const text = declarationsIn(root, target).replace(/^export \{([^}]*)\};?\s*$/m, (_all, list: string) => {
    const names = list.split(',').map((item) => item.trim())
    const chosen = names.filter((name) => name.startsWith('type ') || kept.has(name.split(' as ').pop()!))
    return `export { ${chosen.join(', ')} };\n`
  })
  return target.name === 'wasm32' ? text + MESSAGES_READY : text
}

const MESSAGES_READY = `
/** Fulfils once errors have their texts, which stand in messages.json beside the module, or at \`url\`. */
export declare function messagesReady(url?: string | URL): Promise<void>;
`

/** Names of the members and texts in the declarations of the whole library: an app may use any of them. */
export function publicNames(root: string, target: Target): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) names.add(node.text)
    else if ((ts.isTypeElement(node) || ts.isClassElement(node)) && node.name !== undefined && !isPrivate(node))
      names.add(node.name.getText(file))
    ts.forEachChild(node, visit)
  }
  const file = ts.createSourceFile('index.d.ts', declarationsIn(root, target), ts.ScriptTarget.ES2022)
  visit(file)
  return names
}

function isPrivate(node: ts.Node): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
}

function declarationsIn(root: string, { name }: Target): string {
  const path = join(root, name === 'wasm32' ? 'dist/web.d.ts' : 'dist/index.d.ts')
  if (!existsSync(path)) throw new PtliteError('INVALID_ARGUMENT', `${path} is missing; run 'npm run build' first`)
  return readFileSync(path, 'utf8')
}
