import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ptlite } from './in-process.js'

/** What models are run with where nobody gives it: the sizes that their files declare, and those of --shape. */

const example = (path: string): string => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url))
const pictures = example('search/embedder.pt2')
const texts = example('text/intents.pt2')
const shapes = example('classify/shapes.pt2')
const digits = example('digits/digits.ptl')
const triangle = example('classify/triangle.jpg')

t.test('declared sizes, the smallest of those that may differ', async (t) => {
  const shown = await ptlite('run', pictures, '--json')
  t.equal(shown.status, 0, shown.stderr)
  t.match(shown.stderr, /no --input; random, of the sizes that the file declares/)
  t.equal((JSON.parse(shown.stdout) as { shape: number[] }).shape[0], 1)
  t.match(await ptlite('run', texts), { status: 0, stderr: /declares/ })
  t.match(await ptlite('bench', texts, '--runs', '2'), { status: 0, stdout: /input +random, of the sizes that the file declares/ })
  t.match(await ptlite('inspect', shapes, '--plan'), { status: 0, stdout: /float32\[1, 3, 32, 32\]/ })
  const out = join(t.testdir(), 'out')
  t.match(await ptlite('compile', pictures, '-o', `${out}.ptlc`), { status: 0, stdout: /float32\[1,3,32,32\]|float32\[1, 3, 32, 32\]/ })
  t.match(await ptlite('trace', texts, '-o', `${out}.trace`), { status: 0, stdout: /operators/ })
  t.match(readFileSync(`${out}.trace`, 'utf8'), /run .*"files\W+null/)
})

t.test('--shape', async (t) => {
  const out = join(t.testdir(), 'out')
  const shown = await ptlite('run', pictures, '--shape', '3,3,32,32', '--json')
  t.match(shown.stderr, /random float32\[3, 3, 32, 32\]/)
  t.equal((JSON.parse(shown.stdout) as { shape: number[] }).shape[0], 3)
  // of the dtype that is declared, and of another one
  t.match(await ptlite('run', texts, '--shape', '2,5'), { status: 0, stderr: /random int64\[2, 5\]/ })
  t.match(await ptlite('run', digits, '--shape', 'uint8:1,1,8,8'), { status: 0, stderr: /random uint8\[1, 1, 8, 8\]/ })
  t.match(await ptlite('bench', pictures, '--shape', '2,3,32,32', '--runs', '2'), { stdout: /input +random float32\[2, 3, 32, 32\]/ })
  t.match(await ptlite('inspect', pictures, '--plan', '--shape', '2,3,32,32'), { status: 0, stdout: /2, 3, 32, 32/ })
  const compiled = await ptlite('compile', pictures, '--shape', '2,3,32,32', '-m', 'forward', '--shape', '4,3,32,32', '-o', `${out}.ptlc`)
  t.equal(compiled.status, 0, compiled.stderr)
  t.equal(compiled.stdout.match(/kernel calls/g)?.length, 2, 'a --method begins another call')
  const traced = await ptlite('trace', digits, '--shape', 'uint8:1,1,8,8', '-o', `${out}.trace`)
  t.equal(traced.status, 0, traced.stderr)
  t.match(readFileSync(`${out}.trace`, 'utf8'), /uint8:1,1,8,8/)
})

t.test('--image', async (t) => {
  const out = join(t.testdir(), 'out')
  const picture = ['--image', triangle, '--size', '32']
  t.match(await ptlite('compile', shapes, ...picture, '-o', `${out}.ptlc`), { status: 0, stdout: /kernel calls/ })
  t.match(await ptlite('trace', shapes, ...picture, '-o', `${out}.trace`), { status: 0, stdout: /operators/ })
  t.notMatch(readFileSync(`${out}.trace`, 'utf8'), /triangle/, 'a run that cannot be made again from files alone')
  t.match(await ptlite('inspect', shapes, '--arena', `${out}.svg`, ...picture), { status: 0, stdout: /buffers/ })
})

t.test('what is no shape', async (t) => {
  for (const command of ['run', 'bench', 'compile', 'trace'])
    for (const text of ['x', '1,-2', '1.5', '1,,2', 'text:1,2', '99999999,99999999'])
      t.match(await ptlite(command, digits, '--shape', text), { stderr: /--shape/, stdout: '' }, `${command} --shape ${text}`)
  t.match(await ptlite('inspect', digits, '--shape', '1'), { stderr: /--shape goes with --plan/ })
  t.match(await ptlite('compile', digits), { stderr: /--shape/ })
  const file = join(t.testdir(), 'x.json')
  writeFileSync(file, '1')
  t.match(await ptlite('run', digits, file, '--shape', '1'), { stderr: /without input files/ })
})
