import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from './rooms.js'

interface Site {
  deadLinks(folder: string): string[]
  firstPage(readme: string): string
  readonly PAGES: Readonly<Record<string, readonly string[]>>
}
const load = async (name: string): Promise<Partial<Site>> => (await import(join(root, 'scripts/site', name))) as Partial<Site>
const { deadLinks, firstPage, PAGES } = {
  ...(await load('dead-links.mjs')),
  ...(await load('first-page.mjs')),
  ...(await load('pages.mjs')),
} as Site

t.test('the site has each page of docs, once', (t) => {
  const listed = Object.values(PAGES).flat()
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  t.strictSame(listed.filter((path) => path.startsWith('docs/')).sort(), pages.map((name) => `docs/${name}`).sort())
  for (const path of listed) t.match(readFileSync(join(root, path), 'utf8'), /^# \S/, path)
  t.end()
})

t.test('its first page is for those who install the library', (t) => {
  const page = firstPage(readFileSync(join(root, 'README.md'), 'utf8'))
  t.match(
    page,
    /^Runs PyTorch's models[^]*```console\nnpm install ptlite\nnpx ptlite demo\n```[^]*```ts\nimport [^]*\n- \*\*[^]*\n## How fast\n[^]*\n## Making a model\n/,
  )
  t.notMatch(page, /setup\.sh|## Further/)
  t.throws(() => firstPage('# another\n\ntext\n\n## Further\n'))
  t.end()
})

t.test('links that lead nowhere are found', (t) => {
  const a = `<a href="b/c.html#here">to</a> <a class="x" href="b/c.html#gone">to</a> <a href="#top" id="top"></a> <a href="https://b.c/d">out</a>
    <img src="none.png"> <script src="b/&#x73;.js?v=1"></script> <a href="b">folder</a> <a href="../a.html">out of it</a>`
  const folder = t.testdir({
    site: { 'a.html': a, b: { 'c.html': '<h2 id="here"><a href="../a.html">back</a>', 's.js': '', 'index.html': '' } },
  })
  symlinkSync(join(folder, 'site/a.html'), join(folder, 'a.html'))
  t.strictSame(deadLinks(join(folder, 'site')), ['a.html: b/c.html#gone', 'a.html: none.png', 'a.html: ../a.html'])
  t.end()
})
