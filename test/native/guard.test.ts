import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { nodeArguments } from '../support/node.js'

const child = nodeArguments(fileURLToPath(new URL('guard-child.ts', import.meta.url)))

/** What the child printed, and the signal that ended it. */
function write(
  guard: string,
  ...numbers: number[]
): { readonly lines: readonly string[]; readonly signal: string | null; readonly stderr: string } {
  const { stdout, stderr, signal } = spawnSync(process.execPath, [...child, ...numbers.map(String)], {
    encoding: 'utf8',
    env: { ...process.env, PTLITE_GUARD: guard },
  })
  return { lines: stdout.trim().split('\n'), signal, stderr }
}

t.test('a block ends at a guard page', (t) => {
  for (const [size, at] of [
    [100, 4096 - 100],
    [4096, 0],
    [5000, 8192 - 5000],
    [200_000, 200_704 - 200_000],
  ] as const) {
    t.strictSame(write('1', size, 0, size).lines, [`${at} true`, 'written'])
    t.match(write('1', size, size, 1), { lines: [`${at} true`], signal: 'SIGSEGV' })
  }
  t.strictSame(write('end:16', 100, 0, 112).lines, [`${4096 - 112} true`, 'written'])
  t.match(write('end:16', 100, 0, 113), { lines: [`${4096 - 112} true`], signal: 'SIGSEGV' })
  t.match(write('end', 0, 0, 1), { lines: ['0 true'], signal: 'SIGSEGV' }, 'one without bytes')
  t.end()
})

t.test('a block begins behind a guard page', (t) => {
  t.strictSame(write('start', 100, 0, 100).lines, ['0 true', 'written'])
  t.match(write('start', 100, -1, 1), { lines: ['0 true'], signal: 'SIGSEGV' })
  t.end()
})

t.test('a block that was given back is a guard itself', (t) => {
  for (const guard of ['1', 'start']) t.match(write(guard, 100, 0, 1, 1), { lines: [/true/], signal: 'SIGSEGV' })
  t.end()
})

t.test('images of any number of channels are quantized within their memory', (t) => {
  const program = nodeArguments(fileURLToPath(new URL('guard-quantize-child.ts', import.meta.url)))
  const { stdout, signal } = spawnSync(process.execPath, program, { encoding: 'utf8', env: { ...process.env, PTLITE_GUARD: '1' } })
  t.strictSame({ out: stdout.trim(), signal }, { out: 'done', signal: null })
  t.end()
})

t.test('other settings', (t) => {
  for (const guard of ['', '0']) t.strictSame(write(guard, 100, 0, 128).lines.at(-1), 'written', 'none')
  for (const guard of ['2', 'end:3', 'end:128', 'middle'])
    t.match(write(guard, 100, 0, 1).stderr, /INVALID_ARGUMENT|PTLITE_GUARD is '/, guard)
  t.end()
})
