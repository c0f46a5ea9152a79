import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Declarations of everything that the runtime is written against: the language, Node and the kernel library. */
const DECLARATIONS = [
  { package: 'typescript', folder: 'lib', files: /^lib\.(?:es|decorators).*\.d\.ts$/ },
  { package: '@types/node', folder: '.', files: /\.d\.ts$/ },
  { folder: 'runtime/native', files: /^addon\.ts$/ },
]

const COMMENT = /\/\*[^]*?\*\/|\/\/.*/g
/** What begins a line or a member and is declared there: rather too many names than too few. */
const DECLARED =
  /(?:^|[{;(|&]|\b(?:function|const|let|var|class|namespace|get|set|readonly|static|abstract))\s*["']?([A-Za-z_$][\w$]*)["']?\??\s*[(:<;=,}{]/gm

/** Names of properties that objects from outside of the project can have. */
export function foreignNames(root: string): Set<string> {
  const names = new Set<string>()
  const { resolve } = createRequire(join(root, 'package.json'))
  for (const { package: from, folder, files } of DECLARATIONS) {
    const path = join(from === undefined ? root : dirname(resolve(`${from}/package.json`)), folder)
    for (const file of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
      if (!files.test(file)) continue
      const text = readFileSync(join(path, file), 'utf8').replace(COMMENT, '')
      for (const [, name] of text.matchAll(DECLARED)) names.add(name!)
    }
  }
  return names
}
