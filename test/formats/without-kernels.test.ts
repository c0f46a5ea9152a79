import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as zlib from 'node:zlib'
import t from 'tap'
import { plainCrc32 } from '../../formats/containers/zip/crc32.js'
import { PtliteError } from '../../runtime/error.js'
import { nodeArguments } from '../support/node.js'

/** Files are read and looked at where there is no kernel library; what computes says what to install. */

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const MAIN = path('src/cli/main.ts')
const FILES = ['examples/digits/digits.ptl', 'test/fixtures/control.ptl', 'test/fixtures/control.ff'].map(path)

function run(library: string | undefined, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, PTLITE_NATIVE_LIBRARY: library }
  return spawnSync(process.execPath, [...nodeArguments(MAIN), ...args], { env, encoding: 'utf8' })
}

for (const file of FILES) {
  t.test(`inspect says the same of ${file} without kernels`, async (t) => {
    const args = ['inspect', '--code', '--json', file]
    const [without, usual] = [run('/no/library.so', ...args), run(undefined, ...args)]
    t.equal(usual.status, 0, usual.stderr)
    t.equal(without.status, 0, without.stderr)
    t.equal(without.stdout, usual.stdout)
    t.ok(without.stdout.length > 100)
  })
}

t.test('what takes kernels says which library is missing', async (t) => {
  const { status, stderr } = run('/no/library.so', 'run', FILES[0]!, '--input', path('examples/digits/images.npy'))
  t.equal(status, 1)
  t.match(stderr, /no kernel library at \/no\/library\.so.*NATIVE_LIBRARY/)
  const cpu = run('/no/library.so', 'cpu')
  t.equal(cpu.status, 1)
  t.match(cpu.stderr, /no kernel library at \/no\/library\.so.*NATIVE_LIBRARY/)
})

t.test('checksums are those of zlib, and other errors are not taken for a missing library', async (t) => {
  const missing = new PtliteError('NATIVE_LIBRARY', 'none')
  const bytes = readFileSync(FILES[0]!)
  if ('crc32' in zlib) t.equal(plainCrc32(missing, bytes, 0), (zlib.crc32 as (bytes: Uint8Array) => number)(bytes))
  t.equal(plainCrc32(missing, Buffer.from('123456789'), 0), 0xcbf43926)
  t.equal(plainCrc32(missing, Buffer.from('6789'), plainCrc32(missing, Buffer.from('12345'), 0)), 0xcbf43926)
  for (const cause of [new PtliteError('INVALID_FILE', 'x'), new Error('x')]) {
    t.throws(() => plainCrc32(cause, bytes, 0), cause)
  }
})
