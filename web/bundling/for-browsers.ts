import { join } from 'node:path'
import { GLOBALS, NODE_MODULES } from './manifest.js'

/** What stands for a module of Node in browsers, relative to the project. Throws where there is nothing. */
export function moduleForBrowsers(specifier: string): string {
  const file = NODE_MODULES[specifier]
  if (file === undefined) throw new Error(`nothing in web/node stands for ${specifier}`)
  return file
}

/** Globals of Node, by the files that stand for them. */
const NAMES: Readonly<Record<string, string>> = { Buffer: GLOBALS[0]!, process: GLOBALS[1]!, setImmediate: GLOBALS[2]! }

/** The text of a source file, with imports of what it uses of Node's globals. */
export function withGlobals(root: string, text: string, file: string): string {
  if (GLOBALS.includes(file)) return text
  const used = Object.keys(NAMES).filter(
    (name) =>
      new RegExp(`(?<![.\\w])${name}\\b`).test(text) && !new RegExp(`import [^'"]*\\b${name}\\b|const \\{[^}]*\\b${name}\\b`).test(text),
  )
  return used.map((name) => `import { ${name} } from ${JSON.stringify(join(root, NAMES[name]!))};`).join('') + text
}
