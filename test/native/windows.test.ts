import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** What Windows alone compiles, and what asks about it, by the cross compiler where there is one; the library is built by scripts/build-native.sh. */

const kernels = fileURLToPath(new URL('../../kernels', import.meta.url))
const compiler = 'x86_64-w64-mingw32-g++-win32'
const skip = spawnSync(compiler, ['--version']).error === undefined ? false : `no ${compiler} here`

const sourcesOf = (folder: string): string[] =>
  readdirSync(join(kernels, folder))
    .filter((name) => name.endsWith('.cpp'))
    .map((name) => join(folder, name))

t.test('the system layer for Windows and the addon compile', { skip }, async (t) => {
  const levels = join(fileURLToPath(new URL('../../build', import.meta.url)), 'generated')
  t.ok(existsSync(levels), 'the levels of this build')
  const sources = [...sourcesOf('os/windows'), 'host/node_api.cpp', 'host/addon.cpp']
  const includes = ['.', 'arch/x86', 'arch/generic', 'include', 'generated'].flatMap((folder) => ['-I', join(kernels, folder)])
  const flags = ['-std=gnu++17', '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-fno-exceptions', '-fno-rtti', '-I', levels]
  const definitions = ['PTLITE_GUARDS', 'PTLITE_CUSTOM_LIBRARIES', 'PTLITE_ASYNC_LAUNCHES'].map((name) => `-D${name}`)
  const { status, stderr } = spawnSync(compiler, [...flags, ...definitions, ...includes, ...sources], { cwd: kernels, encoding: 'utf8' })
  t.equal(stderr, '')
  t.equal(status, 0)
})
