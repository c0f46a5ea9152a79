import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { generateCustom, type KnownOperator } from '../../codegen/custom.js'
import { root } from './support/compile.js'
import { functionText } from './support/declare.js'
import { checkExample } from './support/example.js'

const known: Readonly<Record<string, KnownOperator>> = {
  'aten::relu': { schema: 'aten::relu(Tensor self) -> Tensor', source: 'activation.yaml:3' },
  'aten::cat': { schema: 'aten::cat(Tensor[] tensors, int dim=0) -> Tensor', source: 'join-split.yaml:5' },
}

await t.test('what is generated from a custom_ops.yaml', async (t) => {
  const generate = (...yamls: string[]): ReadonlyMap<string, string> => {
    process.chdir(t.testdir({}))
    t.teardown(() => process.chdir(root))
    const paths = yamls.map((_, i) => (i === 0 ? 'custom_ops.yaml' : `more_ops.yaml`))
    paths.forEach((path, i) => writeFileSync(path, yamls[i]!))
    return generateCustom({ paths, natives: './natives.js', known: (name) => known[name] })
  }

  await t.test('a new operator: a wrapper that calls its one native function', (t) => {
    const text = generate('- func: my::f(Tensor self, float[]? x=None) -> (Tensor, float)\n  dispatch:\n    CPU: f\n').get('operators.ts')!
    t.match(text, "import * as natives from './natives.js'")
    t.match(
      text,
      `function w_my_f(s: Stack): void {
  take(s, 2, numbers[0]!)
  const r = natives.f(asPlainTensor(s, 0), asFloatsOrNull(s, 1))
  give(s, r[0])
  giveFloat(s, r[1])
}`,
    )
    t.match(text, "source: 'custom_ops.yaml:1'")
    t.end()
  })

  await t.test('both backends: a switch', (t) => {
    const text = generate('- func: my::f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n    QuantizedCPU: g\n').get('operators.ts')!
    t.match(
      functionText(text.replace('function my_f(', 'export function my_f('), 'my_f'),
      /case QuantizedCPU:\n {6}return natives\.g\(self\)/,
    )
    t.match(text, 'give(s, my_f(asTensor(s, 0)))')
    t.end()
  })

  await t.test("a replacement for one backend leaves the other to the library's own", (t) => {
    const text = generate('- func: cat(Tensor[] tensors, int dim=0) -> Tensor\n  dispatch:\n    CPU: my_cat\n').get('operators.ts')!
    t.match(text, "if (keyOfTop(s, 2) !== CPU) return custom.callBuiltin('aten::cat', s)")
    t.end()
  })

  await t.test('no text of a schema ends the comment that it stands in', (t) => {
    const text = generate(`- func: "my::f(Tensor self, str s='*/ now() /*') -> Tensor"\n  dispatch:\n    CPU: f\n    QuantizedCPU: g\n`)
    t.match(text.get('operators.ts'), String.raw`/** my::f(Tensor self, str s='*\/ now() /*') -> Tensor */`)
    t.end()
  })

  await t.test('mistakes name file and line', (t) => {
    const replaced = '  dispatch:\n    CPU: f\n'
    const cases: [string | string[], string][] = [
      [
        `\n- func: relu(Tensor self, int n=0) -> Tensor\n${replaced}`,
        'custom_ops.yaml:2: aten::relu: the library has aten::relu(Tensor self) -> Tensor (activation.yaml:3), custom_ops.yaml:2 declares relu(Tensor self, int n=0) -> Tensor',
      ],
      [
        '- func: relu(Tensor self) -> Tensor\n',
        "custom_ops.yaml:1: aten::relu: declared twice: at activation.yaml:3 and at custom_ops.yaml:1; 'dispatch' says for which backend to replace its kernel",
      ],
      [
        '- func: my::f(int x) -> int\n- func: my::f(int x) -> int\n',
        'custom_ops.yaml:2: my::f: declared twice; the other declaration is at custom_ops.yaml:1',
      ],
      [
        ['- func: my::f(int x) -> int\n', `\n- func: my::f(int x) -> int\n${replaced}`],
        'more_ops.yaml:2: my::f: declared twice; the other declaration is at custom_ops.yaml:1',
      ],
      ['- func: my::f(int x) -> int\n  kernels: 1\n', "custom_ops.yaml:2: my::f: unknown key 'kernels'"],
      ['', 'custom_ops.yaml: declares neither operators nor kernels'],
    ]
    for (const [yaml, message] of cases) t.throws(() => generate(...[yaml].flat()), { name: 'CodegenError', message })
    t.end()
  })
})

const built = ['dist/cli.js', 'dist/index.js', 'dist/libptlite.so'].every((name) => existsSync(join(root, name)))

await t.test('examples/custom-op: new operators, a C++ kernel and a replaced one', { skip: built ? false : 'not built' }, (t) => {
  const example = join(root, 'examples/custom-op')
  const { status, stdout, stderr } = spawnSync(join(example, 'run.sh'), { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  t.match(stdout, /12 values, at most .* from PyTorch's; the custom relu ran 1 times/)

  const ptlite = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', join(root, 'dist/cli.js'), ...args], { cwd: example, encoding: 'utf8' })
  const { input, output } = JSON.parse(readFileSync(join(example, 'expected.json'), 'utf8')) as { input: number[][]; output: number[][] }
  const file = join(t.testdir({ 'input.json': JSON.stringify(input) }), 'input.json')
  const run = ptlite('run', 'model.ptl', '--ops', 'operators.ts', '--input', file, '--json')
  t.equal(run.status, 0, run.stderr)
  const found = (JSON.parse(run.stdout) as { data: number[][] }).data.flat()
  t.ok(output.flat().every((want, i) => Math.abs(want - found[i]!) < 1e-5))
  t.match(ptlite('inspect', 'model.ptl', '--ops', 'operators.ts').stdout, 'all present')
  t.match(ptlite('inspect', 'model.ptl').stdout, /demo::swish +MISSING/)
  t.match(ptlite('run', 'model.ptl', '--ops', 'natives.ts').stderr, 'natives.ts registers no operators')
  t.match(ptlite('run', 'model.ptl', '--ops', 'nowhere.js').stderr, 'cannot load nowhere.js')

  const { files, errors } = checkExample(example)
  t.ok(files.some((name) => name.endsWith('generated/operators.ts')))
  t.same(errors, [])
  t.end()
})
