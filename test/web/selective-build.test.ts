import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { KernelExports } from '../../runtime/native/wasm/exports.js'
import { webAssembly } from '../../runtime/native/wasm/web-assembly.js'
import type * as selectedTypes from '../../web/selected.js'
import { fixturePath } from '../module/fixtures.js'
import { nodeArguments } from '../support/node.js'
import { withoutWeb } from '../support/web.js'

/** Selective builds for WebAssembly. They are compared with the whole library before the command ends. */

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = t.testdir({})
const hasCompiler = spawnSync('clang++-19', ['--version']).status === 0 && existsSync('/usr/lib/llvm-19/include/wasm32-wasi/c++/v1')
const options = { skip: withoutWeb || (!hasCompiler && 'clang++-19 is not installed') }

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...nodeArguments(join(root, script)), ...args], { encoding: 'utf8', cwd: root })
}

type Runtime = typeof selectedTypes

function builtFor(name: string, model: string, input: string): { readonly out: string; readonly output: string } {
  const trace = join(folder, `${name}.trace`)
  const out = join(folder, name)
  const traced = run('src/cli/main.ts', 'trace', model, '--input', input, '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  const { status, stdout, stderr } = run('src/cli/selective-build-main.ts', ...['--trace', trace, '--target', 'wasm32', '--out', out])
  t.equal(status, 0, stderr)
  return { out, output: stdout + stderr }
}

const imported = (out: string): Promise<Runtime> => import(pathToFileURL(join(out, 'index.js')).href) as Promise<Runtime>
const gzipped = (out: string): number =>
  ['index.js', 'ptlite.wasm'].reduce((sum, name) => sum + gzipSync(readFileSync(join(out, name)), { level: 9 }).length, 0)

t.test('an addition and a relu', options, async (t) => {
  const model = join(root, 'test/selective-build/fixtures/add_relu.ptl')
  const { out, output } = builtFor('add', model, join(root, 'examples/embed/input.json'))
  t.match(output, /level DEFAULT of WebAssembly: 1 runs give the same bits as the whole runtime/)
  t.ok(gzipped(out) <= 58_000, `${gzipped(out)} bytes, gzipped`)
  const code = readFileSync(join(out, 'index.js'), 'utf8')
  t.notMatch(code, /\bfrom\s*["'][.\w]|\bimport\s*\(|\brequire\(/, 'it imports nothing')
  const { exports } = JSON.parse(readFileSync(join(out, 'package.json'), 'utf8')) as { exports: Record<string, unknown> }
  t.strictSame(exports['.'], { types: './index.d.ts', default: './index.js' })
  t.match(readFileSync(join(out, 'index.d.ts'), 'utf8'), /setKernels/)

  const ptlite = await imported(out)
  await ptlite.ready()
  const module = await ptlite.loadModule(new Blob([readFileSync(model)]))
  const x = ptlite.tensor([1, -2, 3])
  t.strictSame((module.forward(x, x) as selectedTypes.Tensor).toArray(), [2, 0, 6])
  t.equal(ptlite.getNumThreads(), 1)
  t.throws(() => module.forward(x, 1), { code: 'INVALID_ARGUMENT', message: /argument 2 \(.+\): expected Tensor, found int/ })
  const double = ptlite.tensor([1, 2], [2], 'float64')
  t.throws(() => module.forward(double, double), { code: 'UNSUPPORTED_DTYPE', message: /--target wasm32.*--trace more\.trace/s })
  await t.rejects(ptlite.loadModule(join(root, 'test/fixtures/linear.ff')), { code: 'UNSUPPORTED_FILE' })
  await t.rejects(module.compile('forward', [x, x]), { code: 'INVALID_ARGUMENT', message: /compiler is not in this build/ })
})

t.test('its heap gives out blocks that do not overlap, and uses memory again', options, (t) => {
  const none = (): number => 0
  const imports = { ptlite: { clock: none, attempt: none, leave: none, report: none, generate: none, discard: none, generated: none } }
  const module = new webAssembly!.Module(readFileSync(join(folder, 'add/ptlite.wasm')))
  const exports = new webAssembly!.Instance(module, imports).exports as KernelExports
  exports._initialize()
  const blocks: { readonly at: number; readonly bytes: number; readonly mark: number }[] = []
  let state = 12345
  const random = (below: number): number => (state = (state * 48271) % 2147483647) % below
  let live = 0
  let peak = 0
  for (let step = 0; step < 20_000; step++) {
    if (blocks.length > 40 || (blocks.length > 0 && random(5) < 2)) {
      const { at, bytes, mark } = blocks.splice(random(blocks.length), 1)[0]!
      const block = new Uint8Array(exports.memory.buffer, at, bytes)
      if (block[0] !== mark || block[bytes - 1] !== mark || block[bytes >> 1] !== mark) t.fail(`step ${step}: another block wrote at ${at}`)
      exports.free(at)
      live -= bytes
    } else {
      const bytes = 1 + random(random(10) === 0 ? 1_000_000 : 5_000)
      const at = exports.aligned_alloc(64, Math.ceil(bytes / 64) * 64) >>> 0
      if (at === 0 || at % 64 !== 0) t.fail(`step ${step}: ${bytes} bytes at ${at}`)
      const mark = random(256)
      new Uint8Array(exports.memory.buffer, at, bytes).fill(mark)
      blocks.push({ at, bytes, mark })
      live += bytes
      peak = Math.max(peak, live)
    }
  }
  const taken = exports.memory.buffer.byteLength
  t.ok(taken < 2 * peak + 2_000_000, `${taken} bytes of memory for ${peak} at most in use`)
  for (const { at } of blocks) exports.free(at)
  // all of it is one block again
  const whole = exports.aligned_alloc(64, taken - 2_200_000) >>> 0
  t.ok(whole > 0)
  t.equal(exports.memory.buffer.byteLength, taken)
  t.equal(exports.aligned_alloc(64, 0xffffffc0), 0, 'more than there can be')
  t.end()
})

t.test('a network', options, async (t) => {
  const file = JSON.parse(readFileSync(fixturePath('models/mobilenet_v2.json'), 'utf8')) as {
    readonly inputs: readonly { readonly shape: number[]; readonly data: string }[]
  }
  const { shape, data } = file.inputs[0]!
  const bytes = Uint8Array.from(Buffer.from(data, 'base64'))
  const numbers = new Float32Array(bytes.buffer)
  const input = join(folder, 'input.json')
  writeFileSync(input, JSON.stringify({ args: [{ dtype: 'float32', shape, data: [...numbers] }] }))
  const model = fixturePath('models/mobilenet_v2.mobile.ptl')
  const { out, output } = builtFor('network', model, input)
  t.match(output, /1 runs give the same bits as the whole runtime/)
  t.ok(gzipped(out) <= 84_000, `${gzipped(out)} bytes, gzipped`)
  const ptlite = await imported(out)
  const module = await ptlite.loadModule(model)
  const result = module.forward(ptlite.tensor(numbers, shape)) as selectedTypes.Tensor
  t.ok((result.data() as Float32Array).every(Number.isFinite))
})

t.test('options of one target alone', (t) => {
  const refusedWith = (pattern: RegExp, ...args: string[]): void => {
    const { status, stderr } = run('src/cli/selective-build-main.ts', '--all', '--out', join(folder, 'none'), ...args)
    t.equal(status, 2)
    t.match(stderr, pattern)
  }
  refusedWith(/--target: expected native or wasm32, found 'arm'/, '--target', 'arm')
  refusedWith(/--isa is of native builds; --level names/, '--target', 'wasm32', '--isa', 'avx2')
  refusedWith(/--level is of --target wasm32/, '--level', 'relaxed')
  const { status, stderr } = run(
    'src/cli/selective-build-main.ts',
    '--all',
    '--out',
    join(folder, 'none'),
    '--target',
    'wasm32',
    '--level',
    'default,relaxed',
  )
  t.not(status, 0)
  t.match(stderr, /a file of WebAssembly is of one level/)
  t.end()
})
