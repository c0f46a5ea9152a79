// The package.json of each published package.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { PUBLISHED, root } from '../targets.mjs'

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** What belongs to developing. */
const LEFT_OUT = ['devDependencies', 'scripts', 'overrides', 'prettier']

/** Where the sources are, of the repository that a workflow builds: provenance is of that one. */
function sourceFields() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  if (server === undefined || name === undefined) return {}
  const home = `${server}/${name}`
  return { repository: { type: 'git', url: `git+${home}.git` }, homepage: `${home}#readme`, bugs: `${home}/issues` }
}

/** Of the package with the JavaScript, which brings the kernel library of the platform along. */
export function mainManifest() {
  const manifest = read('package.json')
  const kept = Object.entries(manifest).filter(([name]) => !LEFT_OUT.includes(name))
  return {
    ...Object.fromEntries(kept),
    ...sourceFields(),
    // maps name sources, which are not in it
    files: [...manifest.files, '!dist/**/*.so', '!dist/**/*.dll', '!dist/**/*.dylib', '!dist/**/*.map', '!dist/build-selected.js'],
    optionalDependencies: libraries(),
  }
}

const libraries = () => Object.fromEntries(PUBLISHED.map(({ name }) => [`@ptlite/${name}`, read('package.json').version]))

/** Folders of sources that a selective build is made from, with what is generated. */
export const SOURCES = [
  'chunks',
  'codegen',
  'compiler',
  'engine',
  'formats',
  'generation',
  'interpreter',
  'kernels',
  'media',
  'program',
  'runtime',
  'selective-build',
  'speech',
  'src',
  'web',
]

/** Of the one with the sources, which `selective-build` compiles, and with what they are compiled by. */
export function sourcesManifest() {
  const { version, license, author, engines, sideEffects, devDependencies } = read('package.json')
  const tools = ['@noble/hashes', 'esbuild', 'fflate', 'flatbuffers', 'rollup', 'terser']
  return {
    name: '@ptlite/selective-build',
    version,
    description: 'What ptlite makes selective builds of: its sources',
    license,
    author,
    ...sourceFields(),
    type: 'module',
    sideEffects,
    // .gitignore files of the folders are not asked
    files: ['dist', ...SOURCES],
    engines,
    dependencies: Object.fromEntries(tools.map((name) => [name, devDependencies[name]])),
    optionalDependencies: libraries(),
  }
}

/** Of the model server, which is used with the library of its version. */
export function serveManifest() {
  const { scripts: _scripts, devDependencies: _tools, ...manifest } = read('serve/package.json')
  const { version } = read('package.json')
  return { ...manifest, version, ...sourceFields(), peerDependencies: { ...manifest.peerDependencies, ptlite: version } }
}

/** Of one with a kernel library. */
export function platformManifest({ name, platform, arch, library, npm: { libc, code } }) {
  const { version, license, author, engines } = read('package.json')
  return {
    name: `@ptlite/${name}`,
    version,
    description: `The kernel library of ptlite for ${name}`,
    license,
    author,
    ...sourceFields(),
    main: 'index.cjs',
    files: ['index.cjs', basename(library), ...(code.length > 0 ? ['LICENSES.txt'] : [])],
    engines,
    os: [platform],
    cpu: [arch],
    // of systems that have several
    ...(libc === undefined ? {} : { libc }),
    // the library is mapped from its file
    preferUnplugged: true,
  }
}
