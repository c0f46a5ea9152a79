import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import koffi from 'koffi'
import t, { type Test } from 'tap'
import { parsePrototype } from '../../codegen/c-functions/prototype.js'
import { namesIn } from '../../codegen/c-functions/sizes.js'
import { generateCustom } from '../../codegen/custom.js'
import { DType } from '../../runtime/tensor/dtype.js'
import * as c from '../../src/custom-c.js'
import { arange, tensor } from '../../src/index.js'
import { root } from './support/compile.js'
import { checkExample } from './support/example.js'

/* Operators that functions of shared libraries serve: `c` in custom_ops.yaml. */

t.test('prototypes', (t) => {
  const { name, result, parameters } = parsePrototype(
    'int f(const float *restrict x, unsigned char y, double* const_, size_t n, const char* mode);',
  )
  t.equal(name, 'f')
  t.match(result, { koffi: 'int32_t' })
  t.match(parameters, [
    { name: 'x', isPointer: true, isConst: true, type: { dtype: 'float32' } },
    { name: 'y', isPointer: false, type: { koffi: 'uint8_t' } },
    { name: 'const_', isPointer: true, isConst: false, type: { dtype: 'float64' } },
    { name: 'n', type: { bits: 64, isSigned: false } },
    { name: 'mode', isPointer: false, type: { koffi: 'str' } },
  ])
  t.match(parsePrototype('void g(void)'), { name: 'g', result: null, parameters: [] })
  for (const [text, message] of [
    ['f', /is no prototype/],
    ['void f(float)', /needs a type and a name/],
    ['void f(long x)', /no type 'long'/],
    ['void f(float** x)', /must be a number or a pointer/],
    ['void f(char* x)', /must be a const char\*/],
    ['void f(int a, int a)', /two parameters 'a'/],
    ['void f(int (*g)(int))', /is no prototype/],
  ] as const)
    t.throws(() => parsePrototype(text), { message })
  t.end()
})

t.test('sizes', (t) => {
  t.strictSame(namesIn('rows * (columns - window + 1)'), ['rows', 'columns', 'window'])
  for (const text of ['', 'a +', '(a', 'a)', 'a b', 'a / b', '* a', 'f(a)']) t.throws(() => namesIn(text), Error, text)
  t.end()
})

const LIBRARY = '  library: libx.so\n'

function generate(t: Test, yaml: string): ReadonlyMap<string, string> {
  process.chdir(t.testdir({}))
  t.teardown(() => process.chdir(root))
  writeFileSync('custom_ops.yaml', yaml)
  return generateCustom({ paths: ['custom_ops.yaml'], natives: './natives.js', known: () => undefined })
}

t.test('what is generated', (t) => {
  const files = generate(
    t,
    `- func: my::f(Tensor x, Tensor y, int k) -> (Tensor values, Tensor indices)
${LIBRARY}  c: int f(const float* x, const double* y, int64_t n, int k, float* values, int64_t* indices)
  shapes: { x: [n, 3], values: [n * k, 2] }
- func: my::g(Tensor self) -> Tensor
`,
  )
  const text = files.get('c_functions.ts')!
  t.match(text, "$c.checkSize($op, 'x', x, 1, 3)")
  t.match(text, "$c.checkShape($op, 'y', y, x.shape)", 'as the first tensor where nothing is said')
  t.match(text, 'const $values = custom.empty([$n * k, 2], $dtypes.float32)')
  t.match(text, 'const $indices = custom.empty(x.shape, $dtypes.int64)', 'as the first tensor')
  t.match(text, 'return [$values, $indices]')
  t.match(files.get('operators.ts'), 'cFunctions.my_f(')
  t.match(files.get('operators.ts'), "import * as natives from './natives.js'")
  t.notMatch(files.get('operators.ts')!.split('interface Natives')[1]!.split('}')[0]!, 'my_f')
  t.end()
})

t.test('mistakes name file, line and operator', (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['- func: my::f(Tensor x) -> Tensor\n  c: void f(const float* x, float* out)\n', /:1: my::f: 'library' must be/],
    [`- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: void f(float x\n`, /:3: my::f: 'void f\(float x' is no prototype/],
    [
      `- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: void f(const float* x, int n, float* out)\n`,
      /parameter 'n' is no argument, result or size/,
    ],
    [
      `- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: void f(float* x, float* out)\n`,
      /'x' is not written to: its pointer must be const/,
    ],
    [`- func: my::f(Tensor(a!) x) -> Tensor(a!)\n${LIBRARY}  c: void f(const float* x)\n`, /'x' is written to, and its pointer is const/],
    [`- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: void f(const float* x)\n`, /no parameter of the function is the result 'out'/],
    [`- func: my::f(Tensor x, int k) -> Tensor\n${LIBRARY}  c: void f(const float* x, float* out)\n`, /is the argument 'k'/],
    [
      `- func: my::f(Tensor x, float k) -> Tensor\n${LIBRARY}  c: void f(const float* x, int k, float* out)\n`,
      /'k' is float, which 'int32_t' does not take/,
    ],
    [`- func: my::f(Tensor x) -> float\n${LIBRARY}  c: void f(const float* x)\n`, /the function does not give float/],
    [`- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: void f(float x)\n`, /gives a number, and its operator a tensor/],
    [
      `- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: float f(float x)\n  dispatch:\n    CPU: f\n`,
      /:4: my::f: 'dispatch' has no meaning beside 'c'/,
    ],
    [
      `- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: void f(const float* x, float* out)\n  shapes: { x: [n], out: [m] }\n`,
      /size 'm' of the result 'out' is no argument's/,
    ],
    [
      `- func: my::f(Tensor x, Tensor? y) -> Tensor\n${LIBRARY}  c: void f(const float* x, const float* y, float* out)\n  shapes: { y: [n] }\n`,
      /may be absent/,
    ],
    [
      `- func: my::f(Tensor x) -> Tensor\n${LIBRARY}  c: void f(const float* x, float* out)\n  shapes: { z: n }\n`,
      /'shapes' names no tensor: 'z'/,
    ],
  ]
  for (const [yaml, message] of cases) t.throws(() => generate(t, yaml), { name: 'CodegenError', message })
  t.end()
})

t.test('what is checked before a call', (t) => {
  const x = tensor([[1, 2], [3, 4]]) // prettier-ignore
  t.equal(c.dense('f', 'x', x, DType.float32), x)
  t.strictSame(c.dense('f', 'x', x.transpose(0, 1), DType.float32).strides, [2, 1])
  t.throws(() => c.dense('f', 'x', x, DType.float64), { code: 'INVALID_DTYPE', message: /'x' must be float64, found float32/ })
  t.throws(() => c.checkRank('f', 'x', x, 1), { code: 'INVALID_ARGUMENT', message: /1 dimensions/ })
  t.throws(() => c.checkSize('f', 'x', x, 1, 3), { code: 'INVALID_ARGUMENT', message: /size 3 in dimension 1/ })
  t.throws(() => c.checkCount('f', 'x', x, 3), { code: 'INVALID_ARGUMENT' })
  t.throws(() => c.checkShape('f', 'x', x, [2, 3]), { code: 'INVALID_ARGUMENT' })
  for (const [value, bits, isSigned] of [
    [128, 8, true],
    [-129, 8, true],
    [-1, 8, false],
    [256, 8, false],
    [2 ** 31, 32, true],
    [0.5, 32, true],
    [NaN, 64, true],
    [2 ** 53, 64, true],
  ] as const)
    // prettier-ignore
    t.throws(() => c.integer('f', 'k', value, bits, isSigned), { code: 'INVALID_ARGUMENT' }, `${value} in ${bits}`)
  t.equal(c.integer('f', 'k', -128, 8, true), -128)
  t.equal(c.integer('f', 'k', 2 ** 32 - 1, 32, false), 2 ** 32 - 1)
  t.strictSame(c.numbers('f', 'k', [1, -2], 'int64_t'), BigInt64Array.of(1n, -2n))
  t.strictSame(c.numbers('f', 'k', [0.5], 'float'), Float32Array.of(0.5))
  t.throws(() => c.numbers('f', 'k', [300], 'uint8_t'), { code: 'INVALID_ARGUMENT' })
  t.throws(() => c.text('f', 'k', 'a\0b'), { code: 'INVALID_ARGUMENT' })
  t.throws(() => c.givenInt('f', 2n ** 60n), { code: 'INVALID_ARGUMENT' })
  t.throws(() => c.checkStatus('f', -3), { code: 'INVALID_ARGUMENT', message: /failed with -3/ })
  t.end()
})

const isGlibc =
  process.platform === 'linux' &&
  (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime !== undefined

t.test('functions of libm', { skip: isGlibc ? false : 'no glibc' }, (t) => {
  const fmax = c.declare(koffi, { [process.platform]: 'libm.so.6' }, 'fmax', 'double', ['double', 'double'])()
  const operand = (name: string, value: ReturnType<typeof tensor>) => ({ name, tensor: value, type: DType.float64 })
  const x = tensor([[3], [6]]).to('float64')
  const y = tensor([4, 8]).to('float64')
  t.strictSame(c.elements('f', fmax, [operand('x', x), operand('y', y)], DType.float64).toArray(), [[4, 8], [6, 8]]) // prettier-ignore
  t.strictSame(c.elements('f', fmax, [operand('x', x), 5.5], DType.float64).toArray(), [[5.5], [6]])
  const labs = c.declare(koffi, 'libc.so.6', 'llabs', 'int64_t', ['int64_t'])()
  t.strictSame(c.elements('f', labs, [{ name: 'x', tensor: arange(-2, 2), type: DType.int64 }], DType.int64).toArray(), [2, 1, 0, 1])
  t.throws(() => c.elements('f', fmax, [operand('x', tensor([1])), 8], DType.float64), { code: 'INVALID_DTYPE' })
  t.throws(c.declare(koffi, 'libm.so.6', 'no_such_function', 'void', []), { code: 'NATIVE_LIBRARY', message: /no_such_function of libm/ })
  t.throws(c.declare(koffi, '/nowhere/libx.so', 'f', 'void', []), { code: 'NATIVE_LIBRARY' })
  t.throws(c.declare(koffi, { other: 'libx.so' }, 'f', 'void', []), { code: 'NATIVE_LIBRARY', message: /no library is named for/ })
  t.end()
})

const built = ['dist/cli.js', 'dist/index.js', 'dist/libptlite.so'].every((name) => existsSync(join(root, name)))

t.test('examples/c-function: functions of libm and of a library in C', { skip: built && isGlibc ? false : 'not built' }, (t) => {
  const example = join(root, 'examples/c-function')
  const { status, stdout, stderr } = spawnSync(join(example, 'run.sh'), { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  t.match(stdout, /42 values, at most .* from PyTorch's; the greatest is 0\.6037/)

  const child = spawnSync(process.execPath, ['--import', 'tsx', join(root, 'test/codegen/fixtures/c-operators.mjs')], {
    encoding: 'utf8',
    cwd: root,
  })
  t.equal(child.status, 0, child.stderr)
  t.strictSame(JSON.parse(child.stdout), {
    mean: [[1.5, 2.5], [4.5, 5.5]],
    ofColumns: [[2.5], [3.5], [4.5]],
    wide: 'INVALID_ARGUMENT: demo::moving_mean: the function failed with 1',
    dtype: "INVALID_DTYPE: demo::moving_mean: 'x' must be float32, found float64; convert it with to()",
    rank: "INVALID_ARGUMENT: demo::moving_mean: 'x' must have 2 dimensions, found shape [3]",
    weight: "INVALID_ARGUMENT: demo::normalize_: 'weight' must have size 2 in dimension 0, found shape [3]",
    inPlace: [[0.6000000238418579, 0.800000011920929], [1, 0]],
    isSame: true,
    strided: [[3, 0.6000000238418579, 0.800000011920929], [3, 1, 0]],
    peak: 4,
    empty: [0, 2],
    plans: [[1.5], [4.5]],
  }) // prettier-ignore

  const { files, errors } = checkExample(example)
  t.ok(files.some((name) => name.endsWith('generated/c_functions.ts')))
  t.same(errors, [])
  t.end()
})
