import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findLibrary } from '../../runtime/native/library-path.js'

/** One library for Linux with either C library: what Node for Alpine Linux does with it, a program for musl does here. */

const SOURCE = fileURLToPath(new URL('musl/main.c', import.meta.url))
const skip = spawnSync('musl-gcc', ['--version']).error === undefined ? false : 'no musl-gcc here (Debian: musl-tools)'

t.test('the kernel library loads and works with musl', { skip }, async (t) => {
  const program = join(t.testdir({}), 'main')
  execFileSync('musl-gcc', ['-O1', '-o', program, SOURCE])
  t.equal(execFileSync(program, [findLibrary()], { encoding: 'utf8' }), 'fine\n')
})
