import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { traceOfModel } from '../../selective-build/selection/from-model.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { cpu } from '../../src/index.js'
import type * as selectedTypes from '../../src/selected.js'
import { method, scriptArchive } from '../formats/torchscript/archive.js'
import { nodeArguments } from '../support/node.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = t.testdir({})
const [model, input, trace, out] = ['model.pt', 'input.json', 'model.trace', 'selected'].map((name) => join(folder, name)) as [
  ...[string, string, string, string],
]

const isa = cpu.highestCpuLevel().startsWith('AVX') || cpu.highestCpuLevel() === 'AMX' ? 'avx2' : 'default'

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...nodeArguments(join(root, script)), ...args], { encoding: 'utf8', cwd: root })
}

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
  const traced = run('src/cli/main.ts', 'trace', model, '--input', input, '-o', trace)
  t.equal(traced.status, 0, traced.stderr)
  const { operators, features } = readTrace(trace, new Set(kernelFields.map((row) => row.split(' ', 1)[0]!)))
  t.ok(features.has('loader:torchscript'))
  t.equal(operators.get('aten::relu')?.isCalled, true)
  t.equal(operators.get('aten::gt.int')?.isCalled, true, 'called at compile time')
  for (const name of ['aten::tanh', 'aten::sigmoid']) t.equal(operators.get(name)?.isRoot, true, name)
  const named = traceOfModel(model).operators
  for (const name of operators.keys()) t.ok(named.has(name), `${name} is named without running, too`)
  t.end()
})

t.test('a build reads the archive and gives the same bits', async (t) => {
  const built = run('src/cli/selective-build-main.ts', '--trace', trace, '--out', out, '--isa', isa, '--cache', join(folder, 'cache'))
  t.equal(built.status, 0, built.stderr)
  t.match(built.stdout, /1 runs give the same bits as the whole runtime/)
  const ptlite = (await import(pathToFileURL(join(out, 'index.js')).href)) as typeof selectedTypes
  ptlite.setNativeLibrary(join(out, 'libptlite.so'))
  const module = await ptlite.loadModule(model)
  t.strictSame((module.forward(ptlite.tensor([1, -2, 3])) as InstanceType<typeof ptlite.Tensor>).toArray(), [2.5, 1.5, 4.5])
  const other = scriptArchive(method('x: Tensor', 'Tensor', 'return torch.cos(x)'))
  await t.rejects(ptlite.loadModule(other), { code: 'MISSING_OPERATOR', message: /lacks an operator:\s+aten::cos.*--trace more\.trace/s })
})
