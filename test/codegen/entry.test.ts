import t from 'tap'
import { parseEntry } from '../../codegen/model/parse-entry.js'
import { parseEntries } from '../../codegen/yaml-file.js'
import { declare } from './support/declare.js'

await t.test('every key of an entry is read', (t) => {
  const [entry] = parseEntries(
    `- func: clamp.Tensor(Tensor self, Tensor? min=None) -> Tensor
  variants: function, method
  device_check: NoCheck   # TensorIterator
  device_guard: False
  cpp_no_default_args: ['min']
  tags: [inplace_view, dynamic_output_shape]
  python_module: nn
  dispatch:
    CPU, CUDA: clamp_cpu
    QuantizedCPU: clamp_quantized
  autogen: clamp.Tensor_extra_out, clamp.Other_out
`,
    'ops.yaml',
  ).map(parseEntry)
  t.match(entry, {
    variants: ['function', 'method'],
    deviceCheck: 'NoCheck',
    deviceGuard: false,
    cppNoDefaultArgs: ['min'],
    tags: ['inplace_view', 'dynamic_output_shape'],
    pythonModule: 'nn',
    autogen: ['clamp.Tensor_extra_out', 'clamp.Other_out'],
    dispatch: [
      { key: 'CPU', kernel: 'clamp_cpu' },
      { key: 'CUDA', kernel: 'clamp_cpu' },
      { key: 'QuantizedCPU', kernel: 'clamp_quantized' },
    ],
  })
  t.end()
})

const relu = '- func: relu(Tensor self) -> Tensor\n'

await t.test('mistakes name file, line and entry', (t) => {
  const cases: [string, string][] = [
    [`${relu}  dispach:\n    CPU: relu\n`, "ops.yaml:2: relu: unknown key 'dispach'"],
    ['- func: relu(Tensor self -> Tensor\n', "ops.yaml:1: relu: ',' expected, found '->' at column 18"],
    ['- func: relu(Tensr self) -> Tensor\n', "ops.yaml:1: relu: unknown type 'Tensr'"],
    ['- func: keys(Dict(str, v) self) -> str[]\n', "ops.yaml:1: keys: unknown type 'v'"],
    ['- func: relu(Tensor self) -> (Tensor, ints[])\n', "ops.yaml:1: relu: unknown type 'ints'"],
    [`${relu}  tags: pointless\n`, "ops.yaml:2: relu: unknown tags 'pointless', expected one of inplace_view, "],
    [`${relu}  precomputed:\n  - dim -> int\n`, "ops.yaml:2: relu: an argument name expected, found ')'"],
    [`${relu}${relu}`, 'ops.yaml:2: aten::relu: declared twice; the other declaration is at ops.yaml:1'],
    [`${relu}  dispatch:\n    CPU, GPU: relu\n`, "ops.yaml:2: relu: unknown dispatch key 'GPU'"],
    [`${relu}  dispatch:\n    CPU: relu\n    CPU, CUDA: relu\n`, "ops.yaml:2: relu: dispatch key 'CPU' is given twice"],
    [`${relu}  structured: yes please\n`, "ops.yaml:2: relu: 'structured' must be True or False"],
    [`${relu}  structured: True\n`, "ops.yaml:1: relu: a structured entry needs 'dispatch'"],
    [`${relu}  structured_delegate: relu.out\n`, "ops.yaml:1: aten::relu: structured_delegate 'relu.out' is not declared"],
    [`${relu}  variants: functional\n`, "ops.yaml:2: relu: unknown variants 'functional', expected one of function, method"],
    [`${relu}\n\n- name: x\n`, "ops.yaml:4: entry: 'func' is missing"],
    [`${relu}  cpp_no_default_args: ['x']\n`, "ops.yaml:1: relu: cpp_no_default_args names no argument: 'x'"],
    [
      `${relu}  structured_delegate: relu.out\n- func: relu.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU: relu\n`,
      "ops.yaml:1: aten::relu: its arguments (Tensor self) differ from those of 'relu.out' (Tensor input)",
    ],
    ['- func: [\n', 'ops.yaml:2: '],
  ]
  for (const [yaml, message] of cases) {
    try {
      declare(yaml)
      t.fail(`no error for ${yaml}`)
    } catch (error) {
      t.equal((error as Error).name, 'CodegenError')
      t.ok((error as Error).message.startsWith(message), `${(error as Error).message} starts with ${message}`)
    }
  }
  t.end()
})

await t.test('autogen variants have the schemas PyTorch gives them', (t) => {
  const operators = declare(`
- func: bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)
  autogen: bernoulli.Tensor, bernoulli.Tensor_out
- func: zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  autogen: zeros.out
- func: var_mean(Tensor self, *, int? correction) -> (Tensor, Tensor)
  autogen: var_mean.out
- func: unbind_copy.int(Tensor self, int dim=0) -> Tensor[]
  autogen: unbind_copy.int_out
- func: observe(Tensor self, Tensor(a!) low, Tensor(b!) high) -> (Tensor output, Tensor mask)
  autogen: observe_functional, observe.out
`)
  const texts = operators.filter((o) => o.derivation !== null).map((o) => o.qualifiedName)
  t.same(texts, [
    'aten::bernoulli.Tensor',
    'aten::bernoulli.Tensor_out',
    'aten::observe.out',
    'aten::observe_functional',
    'aten::unbind_copy.int_out',
    'aten::var_mean.out',
    'aten::zeros.out',
  ])
  t.end()
})
