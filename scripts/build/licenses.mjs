// Writes dist/LICENSES.txt: the licence of each package that something in dist has code of, by its source maps.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { licensesOfPackages, packagesOf } from './package-licenses.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = `${root}dist/`

const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.map'))
const names = packagesOf(maps.flatMap((name) => JSON.parse(readFileSync(dist + name, 'utf8')).sources))
writeFileSync(`${dist}LICENSES.txt`, licensesOfPackages(names, `${root}node_modules`))
console.log(`LICENSES.txt: ${names.join(', ')}`)
