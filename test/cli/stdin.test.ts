import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { ptlite } from './in-process.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const digits = fileURLToPath(new URL('../../examples/digits/digits.ptl', import.meta.url))
const pixels = JSON.stringify({ dtype: 'uint8', shape: [1, 1, 8, 8], data: Array.from({ length: 64 }, (_, i) => i % 17) })

/** In a process of its own, with `input` piped to it. */
function piped(t: Test, input: string | Uint8Array, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const folder = t.testdir({})
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    input,
    env: { ...process.env, TMPDIR: folder },
  })
  t.strictSame(readdirSync(folder), [], 'nothing is left behind')
  return { status, stdout, stderr }
}

t.test('- is what is piped: a model, or an argument', (t) => {
  const model = readFileSync(digits)
  const wanted = piped(t, pixels, 'run', digits, '--input', '-', '--json')
  t.equal(wanted.status, 0, wanted.stderr)
  t.strictSame((JSON.parse(wanted.stdout) as { shape: number[] }).shape, [1, 10])
  t.match(piped(t, model, 'inspect', '-', '--json').stdout, /"forward"/)
  t.match(piped(t, model, 'inspect', '-', '-'), { status: 2, stderr: /- stands for stdin, which is one file/ })
  t.match(piped(t, 'hello', 'inspect', '-'), { status: 1, stderr: /INVALID_FILE/ })
  t.end()
})

t.test('an unknown command', async (t) => {
  const { status, stdout, stderr } = await ptlite('rnu', '--json')
  t.equal(status, 2)
  t.match(stderr, /^ptlite: unknown command 'rnu'; expected run,/)
  t.match(JSON.parse(stdout), { error: { code: 'USAGE', message: /unknown command 'rnu'/ } })
})

t.test('completion for shells', async (t) => {
  const { stdout } = await ptlite('completion', 'bash')
  const complete = (...words: string[]): string[] => {
    const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}\n_ptlite\nprintf '%s\\n' "\${COMPREPLY[@]}"`
    return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
  }
  t.strictSame(complete('ptlite', 'in'), ['inspect'])
  t.strictSame(complete('ptlite', 'run', '--la'), ['--labels'])
  t.strictSame(complete('ptlite', 'cpu', '--ker'), ['--kernels'])
  t.strictSame(complete('ptlite', 'run', 'x'), [])
  t.match((await ptlite('completion', 'zsh')).stdout, /compadd -- run inspect .* completion\n/)
  t.match((await ptlite('completion', 'fish')).stdout, /__fish_seen_subcommand_from run' -l labels\n/)
  t.match(await ptlite('completion', 'tcsh'), { status: 2, stderr: /expected one of bash, zsh, fish/ })
})
