import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Target } from './target.js'

/** Declarations of everything that the runtime is written against: the language, Node and the kernel library. */
const DECLARATIONS = [
  { package: 'typescript', folder: 'lib', files: /^lib\.(?:es|decorators).*\.d\.ts$/ },
  { package: '@types/node', folder: '.', files: /\.d\.ts$/ },
  { folder: 'runtime/native', files: /^addon\.ts$/ },
]

/** Of what pages have besides, and the kernels' module exports and imports. */
const OF_WEB: typeof DECLARATIONS = [
  { folder: 'runtime/native/wasm', files: /^(?:web-assembly|exports|imports|files)\.ts$/ },
  { package: 'undici-types', folder: '.', files: /^(?:fetch|filereader|formdata)\.d\.ts$/ },
]

/** The module that kernels import from, and what an instance gives. */
const MEMBERS_OF_WEB = ['ptlite', 'env', 'memory']

const COMMENT = /\/\*[^]*?\*\/|\/\/.*/g
/** What begins a line or a member and is declared there: rather too many names than too few. */
const DECLARED =
  /(?:^|[{;(|&]|\b(?:function|const|let|var|class|namespace|get|set|readonly|static|abstract))\s*["']?([A-Za-z_$][\w$]*)["']?\??\s*[(:<;=,}{]/gm

/** Names of properties that objects from outside of the project can have. */
export function foreignNames(root: string, { name }: Pick<Target, 'name'> = { name: 'native' }): Set<string> {
  const names = new Set<string>(name === 'wasm32' ? MEMBERS_OF_WEB : [])
  const { resolve } = createRequire(join(root, 'package.json'))
  for (const { package: from, folder, files } of [...DECLARATIONS, ...(name === 'wasm32' ? OF_WEB : [])]) {
    const path = join(from === undefined ? root : dirname(resolve(`${from}/package.json`)), folder)
    for (const file of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
      if (!files.test(file)) continue
      const text = readFileSync(join(path, file), 'utf8').replace(COMMENT, '')
      for (const [, name] of text.matchAll(DECLARED)) names.add(name!)
    }
  }
  return names
}
