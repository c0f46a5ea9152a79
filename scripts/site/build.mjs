// Builds the site of the documentation: the pages of docs, and a reference of the library's exports by typedoc. What typedoc warns of fails, as links do
// that lead nowhere.
//
//   npm run docs [-- FOLDER]     build/site without
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deadLinks } from './dead-links.mjs'
import { firstPage } from './first-page.mjs'
import { codeInHeadings } from './headings.mjs'
import { PAGES } from './pages.mjs'

const here = import.meta.dirname
const root = fileURLToPath(new URL('../..', import.meta.url))
const REFERENCE = 'Reference'
const out = resolve(process.argv[2] ?? join(root, 'build/site'))

if (!existsSync(join(here, 'node_modules'))) {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
const { Application, Converter, KindRouter, ReflectionKind } = await import('typedoc')

/** Headings of the sidebar by page. */
const headings = new Map(Object.entries(PAGES).flatMap(([heading, paths]) => paths.map((path) => [path, heading])))
const paths = [...headings.keys()]

// not beside the README, hence its links are another folder's
const readme = join(root, 'build/site-first-page.md')
const script = join(root, 'build/site-opened.js')
mkdirSync(join(root, 'build'), { recursive: true })
writeFileSync(readme, firstPage(readFileSync(join(root, 'README.md'), 'utf8')).replace(/\]\((?![a-z]+:|#)/g, '](../'))
writeFileSync(script, `(${openAtFirst})(${JSON.stringify([...Object.keys(PAGES), REFERENCE])})\n`)

/** Of the browser: the sidebar's headings are open until the reader closes one, which typedoc keeps in the storage that it reads. */
function openAtFirst(keys) {
  try {
    for (const key of keys.map((text) => `tsd-accordion-${text}`)) if (localStorage.getItem(key) === null) localStorage.setItem(key, 'true')
  } catch {
    // a browser that keeps nothing
  }
}

const app = await Application.bootstrap({
  name: 'ptlite',
  entryPoints: [join(here, 'entry.ts')],
  tsconfig: join(root, 'tsconfig.json'),
  // npm run typecheck looks for errors
  skipErrorChecking: true,
  readme,
  projectDocuments: paths.map((path) => join(root, path)),
  router: 'pages',
  sluggerConfiguration: { lowercase: true },
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  hideGenerator: true,
  includeVersion: true,
  searchInDocuments: true,
  searchInComments: true,
  highlightLanguages: ['bash', 'cmake', 'console', 'cpp', 'dockerfile', 'javascript', 'json', 'python', 'sh', 'typescript', 'yaml'],
  defaultCategory: REFERENCE,
  categorizeByGroup: false,
  categoryOrder: [...Object.keys(PAGES), '*'],
  navigation: { includeCategories: true, includeGroups: false, includeFolders: false },
  sort: ['documents-first', 'alphabetical-ignoring-documents'],
  customCss: join(here, 'site.css'),
  customJs: script,
  markdownItLoader: (parser) => parser.use(codeInHeadings),
  validation: { notExported: true, notDocumented: true, invalidLink: true, invalidPath: true, rewrittenLink: true },
  // fields of what is documented may speak for themselves
  requiredToBeDocumented: ['Class', 'Interface', 'Function', 'Variable', 'TypeAlias', 'Method', 'Accessor'],
})

/** Addresses of pages are those of their files, while the sidebar shows titles. */
const addresses = new Map()
app.renderer.defineRouter(
  'pages',
  class extends KindRouter {
    getIdealBaseName(reflection) {
      return addresses.get(reflection) ?? super.getIdealBaseName(reflection)
    }
  },
)
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, page) => {
  const path = paths[addresses.size]
  const title = /^# (.*)$/m.exec(page.content.map(({ text }) => text).join(''))[1]
  addresses.set(page, path.replace(/\.md$/, '').toLowerCase())
  page.name = title
  page.frontmatter.category = headings.get(path)
})
app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, declaration) => {
  if (declaration.kindOf(ReflectionKind.Module)) declaration.name = 'ptlite'
})
// what only the files call that `ptlite codegen` writes
app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  const custom = project.getChildByName('ptlite.custom')
  for (const child of [...custom.children]) {
    const parts = [child, ...(child.signatures ?? []), ...(child.type?.declaration?.signatures ?? [])]
    if (!child.isReference() && !parts.some((part) => part.hasComment())) project.removeReflection(child)
  }
})

rmSync(out, { recursive: true, force: true })
const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)
await app.generateDocs(project, out)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1)

const dead = deadLinks(out)
for (const line of dead) console.error(line)
if (dead.length > 0) process.exit(1)
console.log(relative(process.cwd(), join(out, 'index.html')))
