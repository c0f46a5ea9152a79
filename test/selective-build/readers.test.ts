import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { traceOfModel } from '../../selective-build/selection/from-model.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { cpu, loadModule, type Tensor, tensor } from '../../src/index.js'
import type * as selectedTypes from '../../src/selected.js'
import { method, scriptArchive } from '../formats/torchscript/archive.js'
import { fixturePath, readCalls } from '../pt2/fixtures.js'
import { bytesOf, meta, node, program, tensorArgument } from '../pt2/writer.js'
import { nodeArguments } from '../support/node.js'

/**
 * A runtime that is built for traces of an exported program, of one that PT2E quantization has been through, and of a TorchScript archive, gives the
 * same bits as the whole one.
 */

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = t.testdir({})
const out = join(folder, 'selected')
const isa = cpu.highestCpuLevel().startsWith('AVX') || cpu.highestCpuLevel() === 'AMX' ? 'avx2' : 'default'

interface Stored {
  readonly tensor: number[]
  readonly shape: number[]
}

interface Model {
  readonly name: string
  /** What the trace must say was called. */
  readonly operators: readonly string[]
}

const MODELS: readonly Model[] = [
  { name: 'linear', operators: ['aten::linear'] },
  { name: 'quantized', operators: ['quantized_decomposed::quantize_per_tensor', 'quantized_decomposed::dequantize_per_channel'] },
]

const imagesOf = (name: string): Stored[] => readCalls(name).calls.map(({ args }) => args[0] as Stored)

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...nodeArguments(join(root, script)), ...args], { encoding: 'utf8', cwd: root })
}

/** A flat list as nested ones. */
function nested(numbers: readonly number[], [size, ...rest]: readonly number[]): unknown {
  if (size === undefined) return numbers[0]
  const step = numbers.length / size
  return Array.from({ length: size }, (_, i) => nested(numbers.slice(i * step, (i + 1) * step), rest))
}

/** Traces all calls of a model. */
function traceOf({ name, operators }: Model, t: Test): string {
  const trace = join(folder, `${name}.trace`)
  const inputs = imagesOf(name).flatMap(({ tensor, shape }, i) => {
    const input = join(folder, `${name}-${i}.json`)
    writeFileSync(input, JSON.stringify(nested(tensor, shape)))
    return ['--input', input]
  })
  const traced = run('src/cli/main.ts', 'trace', fixturePath(`${name}.pt2`), ...inputs, '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  const found = readTrace(trace, new Set(kernelFields.map((row) => row.split(' ', 1)[0]!)))
  t.ok(found.features.has('loader:pt2'))
  for (const operator of operators) t.equal(found.operators.get(operator)?.isCalled, true, operator)
  return trace
}

const [model, input, scriptTrace] = ['model.pt', 'input.json', 'script.trace'].map((name) => join(folder, name)) as [string, string, string]
const code = method(
  'x: Tensor',
  'Tensor',
  'n = torch.len(torch.size(x))',
  // what is known when the code is compiled, and needs operators then
  'if torch.gt(torch.add(1, 1), 1):',
  '  y = torch.relu(x)',
  'else:',
  '  y = torch.tanh(x)',
  'if torch.gt(n, 5):',
  '  y = torch.sigmoid(y)',
  'else:',
  '  pass',
  'return torch.add(y, torch.mul(n, 1.5))',
)
writeFileSync(model, scriptArchive(code))
writeFileSync(input, JSON.stringify([1, -2, 3]))

t.test('a trace names what compiling the code asks for', (t) => {
  const traced = run('src/cli/main.ts', 'trace', model, '--input', input, '-o', scriptTrace)
  t.equal(traced.status, 0, traced.stderr)
  const { operators, features } = readTrace(scriptTrace, new Set(kernelFields.map((row) => row.split(' ', 1)[0]!)))
  t.ok(features.has('loader:torchscript'))
  t.equal(operators.get('aten::relu')?.isCalled, true)
  t.equal(operators.get('aten::gt.int')?.isCalled, true, 'called at compile time')
  for (const name of ['aten::tanh', 'aten::sigmoid']) t.equal(operators.get(name)?.isRoot, true, name)
  const named = traceOfModel(model).operators
  for (const name of operators.keys()) t.ok(named.has(name), `${name} is named without running, too`)
  t.end()
})

t.test('traces, a build, and results', async (t) => {
  const traces = MODELS.flatMap((model) => ['--trace', traceOf(model, t)])
  const built = run('src/cli/selective-build-main.ts', ...traces, '--trace', scriptTrace, '--out', out, '--isa', isa)
  t.equal(built.status, 0, built.stderr)
  const runs = MODELS.reduce((sum, { name }) => sum + imagesOf(name).length, 1)
  t.match(built.stdout, `${runs} runs give the same bits as the whole runtime`)
  const ptlite = (await import(pathToFileURL(join(out, 'index.js')).href)) as typeof selectedTypes
  ptlite.setNativeLibrary(join(out, 'libptlite.so'))
  for (const { name } of MODELS) {
    const selected = await ptlite.loadModule(fixturePath(`${name}.pt2`))
    const whole = await loadModule(fixturePath(`${name}.pt2`), { compile: 'off' })
    for (const { tensor: data, shape } of imagesOf(name)) {
      const found = selected.forward(ptlite.tensor(data, shape)) as InstanceType<typeof ptlite.Tensor>
      const wanted = whole.forward(tensor(data, shape)) as Tensor
      t.strictSame(found.shape, wanted.shape, name)
      if (isa.toUpperCase() === cpu.currentLevel()) t.strictSame(found.data(), wanted.data(), `${name}: ${shape.join()}`)
    }
    whole.dispose()
  }
  const self = ['self', tensorArgument('x')] as const
  const other = program({
    nodes: [node('torch.ops.aten.erfinv.default', [self], [tensorArgument('y')])],
    outputs: [tensorArgument('y')],
    tensors: { x: meta([2, 2]), y: meta([2, 2]) },
  })
  // the first thing that is missing may be an operator or what reads a program
  await t.rejects(ptlite.loadModule(bytesOf(other)), {
    name: 'PtliteError',
    message: /lacks an operator:\s+aten::erfinv|is not in this build/,
  })
  const script = await ptlite.loadModule(model)
  t.strictSame((script.forward(ptlite.tensor([1, -2, 3])) as InstanceType<typeof ptlite.Tensor>).toArray(), [2.5, 1.5, 4.5])
  const unknown = scriptArchive(method('x: Tensor', 'Tensor', 'return torch.cos(x)'))
  await t.rejects(ptlite.loadModule(unknown), { code: 'MISSING_OPERATOR', message: /lacks an operator:\s+aten::cos.*--trace more\.trace/s })
})
