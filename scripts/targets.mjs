// Reads targets.json: a row for each platform that there is, or could be, a kernel library for.
//
//   name, platform, arch   of the package @ptlite/NAME, and what Node calls the system and the processor
//   uname       what `uname -sm` says there, where the library can be built natively
//   processor   the folder of kernels/arch
//   machine     what ELF files and files of Windows call the processor
//   library     the file that scripts/build-native.sh builds
//   headers     that the build needs, with Debian's packages of them
//   toolchain   CMake's file for building it on Linux, its compiler, Debian's packages of that, a script that brings what these have not, and one that checks the library
//   npm         of the published package: C libraries, and what the library has code of: Debian's packages, or texts of licences; without it none is published
//   emulator    what runs programs for it on Linux (scripts/emulate, scripts/release/hosts.mjs)
//   clang       how scripts/compile-targets.sh compiles for it
//   ci          GitHub's runner, the image of Node that it runs in, and versions of Node
//
//   node scripts/targets.mjs here                 the name of this machine's row; fails where it has none
//   node scripts/targets.mjs build [NAME]         what scripts/build-native.sh goes by, for bash; without a name, of this machine
//   node scripts/targets.mjs clang [CLANG-NAME]   names, or flags and packages, for bash
//   node scripts/targets.mjs cross                names of libraries that are published and that no runner with Linux builds natively
//   node scripts/targets.mjs matrix test|native|cross|linked|install      what workflows run over
//   node scripts/targets.mjs place FOLDER         brings libraries from FOLDER/NAME to where packages take them from
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
export const TARGETS = JSON.parse(readFileSync(join(root, 'targets.json'), 'utf8'))
/** Those that there is a package for. */
export const PUBLISHED = TARGETS.filter(({ npm }) => npm !== undefined)

const isCross = ({ platform, ci }) => platform !== 'linux' || ci === undefined
const uname = () => execFileSync('uname', ['-sm'], { encoding: 'utf8' }).trim()
const here = () => TARGETS.find((target) => target.uname === uname())
const named = (name, rows = TARGETS) => {
  const target = rows.find((row) => row.name === name)
  if (target === undefined) throw new Error(`unknown target '${name}'; expected ${rows.map((row) => row.name).join(' or ')}`)
  return target
}

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
const variables = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${Array.isArray(value) ? `(${value.map(quoted).join(' ')})` : quoted(value)}`)
    .join('\n')

/** Built on Linux for Linux without a name, a library has no folder of its own. */
function build(name) {
  const target = name === undefined ? here() : named(name, TARGETS.filter(({ toolchain }) => toolchain !== undefined)) // prettier-ignore
  if (target === undefined) return variables({ folder: 'build', out: 'dist', file: 'libptlite.so', headers: [] })
  const { platform, library, headers, toolchain } = target
  const isPlain = name === undefined && platform === 'linux'
  return variables({
    folder: isPlain ? 'build' : `build/${target.name}`,
    out: isPlain ? 'dist' : dirname(library),
    file: basename(library),
    headers: Object.entries(headers).map(([header, from]) => `${header}=${from}`),
    ...(name === undefined
      ? {}
      : {
          toolchain: toolchain.file,
          compiler: toolchain.compiler,
          compiler_package: toolchain.package,
          prepare: toolchain.prepare ?? '',
          check: toolchain.check ?? '',
        }),
  })
}

function clang(name) {
  const rows = TARGETS.filter((target) => target.clang !== undefined)
  if (name === undefined) return rows.map((row) => row.clang.name).join(' ')
  const { platform, processor, clang: how } = rows.find((row) => row.clang.name === name)
  return variables({ system: platform, processor, flags: how.flags, packages: how.packages })
}

const isTriedHere = ({ emulator }) => emulator !== undefined
const withNodes = ({ ci: { node, ...ci } }) => node.map((version) => ({ ...ci, node: version }))

export const MATRICES = {
  // all tests, natively
  test: () => TARGETS.filter((target) => target.ci?.container !== undefined).flatMap(withNodes),
  // libraries that are built natively, and the others
  native: () =>
    PUBLISHED.filter((target) => !isCross(target)).map(({ name, ci, library }) => ({
      name,
      runner: ci.runner,
      library: `dist/${basename(library)}`,
    })),
  cross: () => PUBLISHED.filter(isCross).filter(isTriedHere).map(({ name, library, emulator }) => ({ name, library, host: emulator.host })), // prettier-ignore
  // libraries that no emulator of Linux runs: tried where they run before they are published
  linked: () => PUBLISHED.filter((target) => isCross(target) && !isTriedHere(target)).flatMap((target) => withNodes(target).map((row) => ({ ...row, name: target.name, library: target.library }))), // prettier-ignore
  // packages of these are installed where they run
  install: () => PUBLISHED.filter((target) => isCross(target) && target.ci !== undefined).flatMap(withNodes),
}

const COMMANDS = {
  here() {
    const target = here()
    if (target === undefined) throw new Error(`no target for ${uname()}; expected ${TARGETS.flatMap((row) => row.uname ?? []).join(', ')}`)
    return target.name
  },
  build,
  clang,
  cross: () => PUBLISHED.filter(isCross).map(({ name }) => name).join(' '), // prettier-ignore
  matrix: (name) => JSON.stringify({ include: MATRICES[name]() }),
  place(folder) {
    for (const { name, library } of PUBLISHED) {
      mkdirSync(join(root, dirname(library)), { recursive: true })
      copyFileSync(join(folder, name, basename(library)), join(root, library))
    }
    return ''
  },
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [command, ...args] = process.argv.slice(2)
  try {
    const text = COMMANDS[command](...args)
    if (text !== '') console.log(text)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 2
  }
}
