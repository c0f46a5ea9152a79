import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { generateCustom } from '../../codegen/custom.js'
import { root } from './support/compile.js'
import { functionText } from './support/declare.js'

const known: Readonly<Record<string, string>> = {
  'aten::relu': 'aten::relu(Tensor self) -> Tensor',
  'aten::cat': 'aten::cat(Tensor[] tensors, int dim=0) -> Tensor',
}

await t.test('what is generated from a custom_ops.yaml', async (t) => {
  const generate = (yaml: string): ReadonlyMap<string, string> => {
    const path = join(t.testdir({}), 'custom_ops.yaml')
    writeFileSync(path, yaml)
    return generateCustom({ path, natives: './natives.js', knownSchema: (name) => known[name] })
  }

  await t.test('a new operator: a wrapper that calls its one native function', (t) => {
    const text = generate('- func: my::f(Tensor self, float[]? x=None) -> (Tensor, float)\n  dispatch:\n    CPU: f\n').get('operators.ts')!
    t.match(text, "import * as natives from './natives.js'")
    t.match(
      text,
      `function w_my_f(s: Stack): void {
  take(s, 2, numbers[0]!)
  const r = natives.f(asTensor(s, 0), asFloatsOrNull(s, 1))
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

  await t.test('mistakes name file and line', (t) => {
    const cases: [string, string | RegExp][] = [
      [
        '\n- func: relu(Tensor self, int n=0) -> Tensor\n',
        'custom_ops.yaml:2: aten::relu: the library has aten::relu(Tensor self) -> Tensor, custom_ops.yaml:2 declares relu(Tensor self, int n=0) -> Tensor',
      ],
      [
        '- func: my::f(int x) -> int\n- func: my::f(int x) -> int\n',
        'custom_ops.yaml:2: my::f: declared twice; the other declaration is at custom_ops.yaml:1',
      ],
      ['- func: my::f(int x) -> int\n  kernels: 1\n', "custom_ops.yaml:2: my::f: unknown key 'kernels'"],
      ['', /declares neither operators nor kernels$/],
    ]
    for (const [yaml, message] of cases) t.throws(() => generate(yaml), { name: 'CodegenError', message })
    t.end()
  })
})

const built = ['dist/cli.js', 'dist/index.js', 'dist/libptlite.so'].every((name) => existsSync(join(root, name)))

await t.test('examples/custom-op: new operators, a C++ kernel and a replaced one', { skip: built ? false : 'not built' }, (t) => {
  const { status, stdout, stderr } = spawnSync(join(root, 'examples/custom-op/run.sh'), { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  t.match(stdout, /12 values, at most .* from PyTorch's; the custom relu ran 1 times/)
  t.end()
})
