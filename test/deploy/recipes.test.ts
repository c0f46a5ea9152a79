import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from './app-folder.js'

const read = (name: string): string => readFileSync(join(root, name), 'utf8')
const page = read('docs/deploy.md')
const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } }
const targets = JSON.parse(read('targets.json')) as readonly {
  readonly name: string
  readonly platform: string
  readonly library: string
  readonly npm?: object
}[]
const platforms = targets.filter(({ npm }) => npm !== undefined)

t.test('recipes name packages that are released, and files that are in them', (t) => {
  const named = [...page.matchAll(/@ptlite\/([a-z]\w*(?:-\w+)+)/g)].map(([, name]) => name!)
  t.ok(named.length > 0)
  for (const name of named) t.ok(platforms.some((platform) => platform.name === name), name) // prettier-ignore
  for (const [, name] of page.matchAll(/@ptlite\/[\w-]+\/(\S+\.so)/g))
    for (const { platform, library } of platforms) if (platform === 'linux') t.ok(library.endsWith(`/${name!}`), library)
  for (const [, file] of page.matchAll(/node_modules\/ptlite\/dist\/([\w.-]+)/g)) t.ok(existsSync(join(root, 'dist', file!)), file)
  t.end()
})

t.test('stages of images are of one system and one version of Node, which ptlite runs on', (t) => {
  const images = [...page.matchAll(/^```dockerfile\n([^]*?)^```/gm)].map(([, text]) => text!)
  t.equal(images.length, 2)
  for (const text of images) {
    const stages = [...text.matchAll(/^FROM (\S+?)(?: AS (\w+))?$/gm)].map(([, image, name]) => ({ image: image!, name }))
    const versions = new Set(stages.map(({ image }) => /(?:node:|nodejs)(\d+)/.exec(image)![1]!))
    t.equal(versions.size, 1, [...versions].join())
    t.ok(Number([...versions][0]) >= Number(/\d+/.exec(engines.node)![0]))
    // a library of one C library is not the other's, and bookworm is Debian 12
    t.equal(new Set(stages.map(({ image }) => image.includes('alpine'))).size, 1)
    t.equal(new Set(stages.map(({ image }) => /alpine|bookworm|debian12/.test(image))).size, 1)
    for (const [, from] of text.matchAll(/^COPY --from=(\w+) /gm)) t.ok(stages.some(({ name }) => name === from), from) // prettier-ignore
    t.match(text, /^RUN npm ci --omit=dev$/m, 'optional packages are the kernel libraries')
    // Node is the entry of distroless images, and has to be named in others
    t.match(text, stages.at(-1)!.image.includes('distroless') ? /^CMD \["app\.mjs"\]$/m : /^CMD \["node", "app\.mjs"\]$/m)
  }
  t.end()
})

t.test('the page says which versions the hosts have', (t) => {
  const { dependencies } = JSON.parse(read('scripts/hosts/package.json')) as { readonly dependencies: Readonly<Record<string, string>> }
  const helpers = ['postject', 'react', 'react-dom', 'webpack-cli']
  for (const [name, version] of Object.entries(dependencies))
    if (!helpers.includes(name)) t.ok(page.includes(` ${version}`), `${name} ${version}`)
  t.end()
})
