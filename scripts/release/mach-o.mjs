// Checks a kernel library for macOS as far as it can be without a Mac, by LLVM's tools: what it is, what it takes of the system, what it gives, that it
// is signed, and that no code of one level can stand for that of another.
//
//   node scripts/release/mach-o.mjs LIBRARY BUILD-FOLDER
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Of the LLVM that builds it (kernels/os/darwin/clang.cmake). */
const VERSION = 19
/** What every Mac has, by the names that the system loads them by. */
const LIBRARIES = ['/usr/lib/libSystem.B.dylib', '/usr/lib/libc++.1.dylib']
/** The first macOS for 64-bit Arm. */
const OLDEST = '11.0'

const tool = (name, ...args) => execFileSync(`llvm-${name}-${VERSION}`, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
const lines = (text) => text.split('\n').filter((line) => line !== '')

/** What is wrong, a line each; none where nothing is. */
export function faultsOf(library, folder) {
  return [...inHeaders(library), ...inSymbols(library), ...sharedByLevels(folder)]
}

function inHeaders(library) {
  const text = tool('objdump', '--macho', '--private-headers', library)
  const all = (pattern) => [...text.matchAll(pattern)].map(([, found]) => found)
  const faults = []
  const expect = (what, found, expected) => {
    if (String(found) !== String(expected)) faults.push(`${what}: expected ${expected}, found ${found}`)
  }
  expect('type', /\bDYLIB\b/.test(text), true)
  expect('platform', all(/platform (\w+)/g), 'macos')
  expect('oldest system', all(/minos ([\d.]+)/g), OLDEST)
  expect('own name', all(/cmd LC_ID_DYLIB\n.*\n\s*name (\S+)/g), '@rpath/libptlite.dylib')
  expect('libraries', all(/cmd LC_LOAD_DYLIB\n.*\n\s*name (\S+)/g), LIBRARIES)
  expect('signatures', all(/(cmd LC_CODE_SIGNATURE)/g).length, 1)
  expect('segments that are written to and run', all(/segname (\S+)\n(?:.*\n){4}\s*maxprot rwx/g), '')
  return faults
}

function inSymbols(library) {
  const ofSystem = /\(from (?:libSystem|libc\+\+)\)/
  const ofNode = / _napi_\w+ \(dynamically looked up\)/
  const taken = lines(tool('nm', '-m', '--undefined-only', library)).filter((line) => !ofSystem.test(line) && !ofNode.test(line))
  const given = lines(tool('nm', '--just-symbol-name', '--defined-only', '--extern-only', library)).map((line) => line.trim())
  return [
    ...taken.map((line) => `neither of the system nor of Node-API:${line}`),
    ...given.filter((name) => !/^_(?:ptlite_\w+|napi_register_module_v1)$/.test(name)).map((name) => `exported: ${name}`),
    ...(given.includes('_napi_register_module_v1') ? [] : ['no addon of Node']),
  ]
}

/** Functions that objects of several levels have: the linker keeps one of them, which may have instructions that a processor lacks. */
function sharedByLevels(folder) {
  const objects = join(folder, 'CMakeFiles')
  // what is compiled once is compiled for what every processor has
  const levelOf = (name) => /^ptlite_([A-Z]\w*)\.dir$/.exec(name)?.[1] ?? 'no level'
  const folders = readdirSync(objects).filter((name) => /^ptlite_\w+\.dir$/.test(name))
  const owners = new Map()
  for (const name of folders) {
    const files = readdirSync(join(objects, name), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.o'))
    if (files.length === 0) continue
    const symbols = lines(tool('nm', '-m', '--defined-only', ...files.map((file) => join(objects, name, file))))
    for (const line of symbols) {
      const symbol = / weak (?:private )?external (\S+)/.exec(line)?.[1]
      if (symbol !== undefined) owners.set(symbol, (owners.get(symbol) ?? new Set()).add(levelOf(name)))
    }
  }
  return [...owners].filter(([, of]) => of.size > 1).map(([symbol, of]) => `of ${[...of].join(' and ')}: ${symbol}`)
}

const [library, folder] = process.argv.slice(2)
const faults = faultsOf(library, folder)
for (const fault of faults) console.error(`${library}: ${fault}`)
if (faults.length > 0) process.exitCode = 1
