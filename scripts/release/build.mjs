// Packs what is published: ptlite, which is JavaScript alone, its sources, and one package for each platform whose kernel library has been built.
// The same sources give the same bytes.
//
//   node scripts/release/build.mjs [FOLDER] [--without-browsers]
//
// FOLDER              build/release without
// --without-browsers  packs ptlite without kernels for browsers, which are built where they are missing: to try packages, not to publish them
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { licensesOf } from './licenses.mjs'
import { PUBLISHED, root } from '../targets.mjs'
import { checkNamedFiles, KERNELS, namedFiles } from './named-files.mjs'
import { mainManifest, platformManifest, serveManifest, SOURCES, sourcesManifest } from './manifests.mjs'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'without-browsers': { type: 'boolean', default: false } } })
const out = resolve(positionals[0] ?? join(root, 'build/release'))
const lacks = (paths) => paths.some((path) => !existsSync(join(root, path)))

/** Builds what is named and not there. */
function build(...command) {
  console.log(`${command.join(' ')}: the package names what has not been built`)
  const { status } = spawnSync(command[0], command.slice(1), { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${command.join(' ')} failed`)
}
if (lacks(namedFiles(mainManifest()))) build('npm', 'run', 'build:js')
if (!values['without-browsers'] && lacks(KERNELS)) build('scripts/build-web.sh')
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })

/** Packs a folder that `fill` has put the files of a package into. */
function pack(manifest, fill) {
  const folder = join(out, 'staged', manifest.name)
  mkdirSync(folder, { recursive: true })
  fill(folder)
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const file = stdout.trim()
  checkArchive(manifest, folder, file)
  console.log(`${file}: ${(statSync(join(out, file)).size / 1000).toFixed(0)} kB`)
}

/** Throws where a file that the package names is not in the archive. */
function checkArchive(manifest, folder, file) {
  const { status, stdout, stderr } = spawnSync('tar', ['tzf', join(out, file)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const packed = new Set(stdout.split('\n').map((path) => path.replace(/^package\//, '')))
  if (values['without-browsers']) for (const path of KERNELS) packed.add(path)
  checkNamedFiles(manifest, packed, (path) => readFileSync(join(folder, path), 'utf8'))
}

pack(mainManifest(), (folder) => {
  for (const name of ['README.md', ...mainManifest().files.filter((pattern) => !pattern.startsWith('!'))]) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: (path) => !/\.(so|dll|dylib|cache)$/.test(path) })
  }
})
pack(sourcesManifest(), (folder) => {
  for (const name of SOURCES) cpSync(join(root, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'dist'))
  // the program, declarations for builds, and the library that builds are compared with
  for (const name of readdirSync(join(root, 'dist')))
    if (/^(?:build-selected\.js|index\.d\.ts|.*\.cjs)$/.test(name)) copyFileSync(join(root, 'dist', name), join(folder, 'dist', name))
})
pack(serveManifest(), (folder) => {
  const { status, stderr } = spawnSync('node', ['build.mjs', '--types'], { cwd: join(root, 'serve'), encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  cpSync(join(root, 'serve/dist'), join(folder, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.map') })
})
for (const platform of PUBLISHED) {
  const library = join(root, platform.library)
  if (!existsSync(library)) {
    console.log(`@ptlite/${platform.name}: left out, ${platform.library} has not been built`)
    continue
  }
  pack(platformManifest(platform), (folder) => {
    copyFileSync(library, join(folder, basename(library)))
    const licenses = licensesOf(platform.npm.code)
    if (licenses !== '') writeFileSync(join(folder, 'LICENSES.txt'), licenses)
    writeFileSync(
      join(folder, 'index.cjs'),
      `// The path of the kernel library.\nmodule.exports = require('node:path').join(__dirname, '${basename(library)}')\n`,
    )
  })
}
rmSync(join(out, 'staged'), { recursive: true })
