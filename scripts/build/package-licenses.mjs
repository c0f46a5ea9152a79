// Licences of packages of npm that bundles have code of.
import { readdirSync, readFileSync } from 'node:fs'

/** Names of the packages that files of these paths are of. */
export function packagesOf(paths) {
  const names = paths.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path)?.[1] ?? [])
  return [...new Set(names)].sort()
}

/** Their licences as one text; they are installed in `folder`. Throws where one has no file with its licence. */
export function licensesOfPackages(names, folder) {
  const texts = names.map((name) => {
    const place = `${folder}/${name}/`
    const { version, license } = JSON.parse(readFileSync(`${place}package.json`, 'utf8'))
    const files = readdirSync(place).filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
    if (files.length === 0) throw new Error(`${name} has no file with its licence`)
    return `${name} ${version} (${license})\n\n${files.map((file) => readFileSync(place + file, 'utf8').trim()).join('\n\n')}\n`
  })
  return `Code of these packages is part of the files beside this one.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`
}
