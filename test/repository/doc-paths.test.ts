import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import { root } from './rooms.js'

/** What is not of the project itself, or is made. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.tap', 'build', 'dist', 'node_modules'])

function* pathsIn(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue
    const path = join(folder, entry.name)
    yield path
    if (entry.isDirectory()) yield* pathsIn(path)
  }
}

/** Files and folders, those that are generated among them. */
const PATHS = [...pathsIn('.')]
const FOLDERS: ReadonlySet<string> = new Set(readdirSync(root).filter((name) => statSync(join(root, name)).isDirectory()))
const NAMES: ReadonlySet<string> = new Set(PATHS.map((path) => path.slice(path.lastIndexOf('/') + 1)))

/** Files that docs have their readers make, and PyTorch's. */
const OTHERS: ReadonlySet<string> = new Set(
  'c_functions.ts shift_rows.cpp shift_rows.once.cpp shift_rows.yaml native_functions.yaml model_ops.yaml more_ops.yaml selected_operators.yaml'.split(
    ' ',
  ),
)
const OTHER = /\/mylib\.(?:yaml|ts)$|\/shift_rows\.h$/

/** What ends so is a file of this project even where no folder is named. */
const SOURCE = /^[\w*-]+(?:\.once)?\.(?:ts|mjs|cpp|yaml|sh)$/

/** A path with `*`, `<any>` and words in capitals for any name, and `{a,b}` for one of some. */
function pattern(path: string): RegExp {
  const text = path
    .replace(/[.+?^$()|[\]\\]/g, '\\$&')
    .replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.split(/,\s*/).join('|')})`)
    .replace(/<[^>]*>|\b[A-Z]+\b(?!\.md)/g, '[^/]+')
    .replaceAll('**/', '(?:.+/)?')
    .replaceAll('*', '[^/]*')
  return new RegExp(`^${text.replace(/\/$/, '')}$`)
}

function exists(path: string): boolean {
  if (!path.includes('/')) return NAMES.has(path) || PATHS.some((each) => pattern(`**/${path}`).test(each))
  if (existsSync(join(root, path))) return true
  const wanted = pattern(path)
  return PATHS.some((each) => wanted.test(each))
}

/** Where kernels find headers. */
const HEADERS = ['kernels', 'kernels/include']

/** Paths, links and headers of a page that lead nowhere. */
function lost(page: string, text: string): string[] {
  const prose = text.replace(/^```[^]*?^```/gm, '')
  const words = [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => code!.split(/[\s()'":=;]+|,(?![^{]*\})/))
  const paths = words.filter((word) => (word.includes('/') ? FOLDERS.has(word.split('/')[0]!) : SOURCE.test(word)))
  const links = [...prose.matchAll(/\]\(([^)#\s]+)/g)].map(([, link]) => link!).filter((link) => !/^[a-z]+:/.test(link))
  const headers = [...text.matchAll(/^#include "([^"]+)"/gm)].map(([, header]) => header!)
  return [
    ...headers.filter((header) => !OTHER.test(header) && !HEADERS.some((folder) => existsSync(join(root, folder, header)))),
    ...paths.filter((path) => !OTHERS.has(path) && !OTHER.test(path) && !LEFT_OUT.has(path.split('/')[0]!) && !exists(path)),
    ...links.filter((link) => !existsSync(join(root, dirname(page), link))),
  ]
}

t.test('the paths that docs name are there', (t) => {
  const { stdout } = spawnSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  const listed = stdout === '' ? PATHS.filter((path) => path.endsWith('.md')) : stdout.trim().split('\n')
  // the changelog names what was there at the time
  const pages = listed.filter((page) => page !== 'CHANGELOG.md')
  t.ok(pages.length > 15)
  for (const page of pages) t.strictSame(lost(page, readFileSync(join(root, page), 'utf8')), [], page)
  t.end()
})

t.test('and others are found', (t) => {
  const page = relative(root, join(root, 'docs/any.md'))
  const fine =
    '`engine/` `engine/open.ts` `codegen/kernels/*.yaml` `formats/NAME/read.ts` `open.ts` `runtime/{tensor,native}` [a](codegen.md#b) `a/b`'
  t.strictSame(lost(page, fine), [])
  t.strictSame(lost(page, '`engine/none.ts` `formats/NAME/none.ts` `none.ts` `runtime/{tensor,none}/none.ts` [a](none.md)'), [
    ...['engine/none.ts', 'formats/NAME/none.ts', 'none.ts', 'runtime/{tensor,none}/none.ts', 'none.md'],
  ])
  t.strictSame(lost(page, '```cpp\n#include "dispatch/kernel.h"\n#include "dispatch/none.h"\n```'), ['dispatch/none.h'])
  t.end()
})
