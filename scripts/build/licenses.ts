// Writes dist/LICENSES.txt: the licence of each package that something in dist has code of, by its source maps.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = `${root}dist/`

const sourcesOf = (name: string): readonly string[] => (JSON.parse(readFileSync(dist + name, 'utf8')) as { sources: string[] }).sources
const sources = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.map'))
  .flatMap(sourcesOf)
const names = new Set(sources.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))

const texts = [...names].sort().map((name) => {
  const folder = `${root}node_modules/${name}/`
  const { version, license } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as { version: string; license: string }
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
  if (files.length === 0) throw new Error(`${name} has no file with its licence`)
  return `${name} ${version} (${license})\n\n${files.map((file) => readFileSync(folder + file, 'utf8').trim()).join('\n\n')}\n`
})
writeFileSync(
  `${dist}LICENSES.txt`,
  `Code of these packages is part of the files beside this one.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`,
)
console.log(`LICENSES.txt: ${[...names].sort().join(', ')}`)
