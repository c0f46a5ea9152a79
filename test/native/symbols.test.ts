import { execFileSync, spawnSync } from 'node:child_process'
import t from 'tap'
import { findLibrary } from '../../runtime/native/library-path.js'

/** RHEL 8, Debian 10 and Amazon Linux 2023 have this one or a newer one. */
const OLDEST_GLIBC = [2, 28]
const skip = spawnSync('objdump', ['--version']).error === undefined ? false : 'no objdump here'

/** Lines of a table of objdump about the kernel library. */
function table(...flags: string[]): string[] {
  return execFileSync('objdump', [...flags, findLibrary()], { encoding: 'utf8' }).split('\n')
}

t.test('the kernel library needs no newer C library than it promises', { skip }, async (t) => {
  const versions = new Set(table('-T').flatMap((line) => /\(?GLIBC_([\d.]+)\)?/.exec(line)?.[1] ?? []))
  t.ok(versions.size > 0)
  for (const version of versions) {
    const [major, minor = 0] = version.split('.').map(Number)
    t.ok(major === OLDEST_GLIBC[0] && minor <= OLDEST_GLIBC[1]!, `glibc ${version}`)
  }
})

t.test('it needs the C library alone, and nothing of a C++ one', { skip }, async (t) => {
  const needed = table('-p').flatMap((line) => /NEEDED +(.*)/.exec(line)?.[1] ?? [])
  for (const name of needed) t.match(name, /^(libc|libm|libdl)\.so/)
  t.notOk(table('-T').some((line) => line.includes('*UND*') && / (_Z|__cxa_throw|_Unwind)/.test(line)))
})

t.test('it exports its own names alone', { skip }, async (t) => {
  const exported = table('-T').flatMap((line) => (/^[\da-f]+ .* \.\w+\t/.test(line) ? (line.split(' ').at(-1) ?? []) : []))
  t.ok(exported.includes('napi_register_module_v1'))
  for (const name of exported) t.match(name, /^(ptlite_|napi_register_module_v1$)/)
})
