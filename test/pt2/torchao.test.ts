import { readFileSync } from 'node:fs'
import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, type Module, type Tensor, tensor } from '../../src/index.js'

/** Models that torchao has quantized, with tensors of its classes and unwrapped; test/fixtures/torchao/make.py writes them. */

const FOLDER = 'test/fixtures/torchao/'

interface Expected {
  readonly input: readonly number[]
  readonly shape: readonly number[]
  readonly output: readonly number[]
  /** Of input and output, where it is not float32. */
  readonly dtype?: 'bfloat16' | 'float16'
}
const files = JSON.parse(readFileSync(`${FOLDER}outputs.json`, 'utf8')) as Readonly<Record<string, Expected>>

/** The largest difference to torchao's output. */
function difference(found: unknown, { output }: Expected): number {
  const data = Array.from((found as Tensor).to('float32').data() as Float32Array)
  return Math.max(...output.map((x, i) => Math.abs(data[i]! - x)))
}

const inputOf = ({ input, shape, dtype }: Expected): Tensor => tensor(Float32Array.from(input), shape).to(dtype ?? 'float32')

/**
 * Sums of float32 products in another order. Those of integers have none: they and their scales make one rounding more or less. Of 16 bits a rounding may
 * go to the next number, and torchao rounds weights, too; of 8da4w it rounds by up to 2^-9 on both sides what plans do not.
 */
function boundOf(file: string, { output, dtype }: Expected): number {
  if (dtype === undefined) return file.startsWith('int8-dynamic') ? 2.5e-7 : 1e-6
  const most = Math.max(...output.map(Math.abs))
  if (dtype === 'float16') return most * 2 ** -10
  return most * (file.startsWith('8da4w') ? 2 ** -6 : 2 ** -7)
}

for (const [file, expected] of Object.entries(files)) {
  t.test(file, async (t) => {
    const bound = boundOf(file, expected)
    const input = (): Tensor => inputOf(expected)
    const check = (module: Module, how: string): void => {
      const found = difference(module.forward(input()), expected)
      t.ok(found <= bound, `${how}: ${found}`)
    }
    const interpreted = await loadModule(`${FOLDER}${file}.pt2`, { compile: 'off' })
    check(interpreted, 'interpreted')
    interpreted.dispose()
    const model = await loadModule(`${FOLDER}${file}.pt2`)
    for (let call = 1; call <= 6; call++) check(model, `call ${call}`)
    t.ok(difference(await model.run('forward', [input()]), expected) <= bound, 'in the background')
    t.ok(
      model.plans().some(({ state }) => state === 'plan'),
      'a plan serves it',
    )
    model.dispose()
    const compiled = await loadModule(compileAhead(`${FOLDER}${file}.pt2`, () => [{ method: 'forward', args: [input()] }]))
    check(compiled, 'compiled ahead of time')
    compiled.dispose()
  })
}

/** Operators on integers that plans have, by file. */
const KERNELS: Readonly<Record<string, RegExp>> = {
  'int8-weight-only': /weight=\(%\d+, "i8"/,
  'int3-rows': /weight=\(%\d+, "i4"/,
  'int4-groups': /weight=\(%\d+, "i4"/,
  'int8-dynamic': /weight=\(%\d+, "i8", %\d+, None, 0, \("symmetric", -128,/,
  'int8-dynamic-rows': /weight=\(%\d+, "i8", %\d+, None, 0, \("symmetric", -128,/,
  '8da4w': /weight=\(%\d+, "i4", %\d+, None, 0, \("affine", -128,/,
  '8da4w-block': /weight=\(%\d+, "i4", %\d+, None, 0, \("affine", -128,/,
  '8da4w-block-bfloat16': /weight=\(%\d+, "i4", %\d+, None, 0, \("affine_bfloat16", -128,/,
  'int8-weight-only-decomposed': /weight=\(%\d+, "i8", %\d+, None, 0, None/,
  'int8-weight-only-bfloat16': /weight=\(%\d+, "i8", %\d+, None, 0, None/,
  'int8-weight-only-bfloat16-decomposed': /weight=\(%\d+, "i8", %\d+, None, 0, None/,
  'int8-dynamic-decomposed': /weight=\(%\d+, "i8", %\d+, None, 0, \("symmetric", -128,/,
  'int8-dynamic-bfloat16': /weight=\(%\d+, "i8", %\d+, None, 0, \("symmetric_widened", -128,/,
  'int8-dynamic-bfloat16-decomposed': /weight=\(%\d+, "i8", %\d+, None, 0, \("symmetric_widened", -128,/,
  '8da4w-decomposed': /weight=\(%\d+, "i4", %\d+, None, 0, \("affine", -128,/,
  '8da4w-bfloat16': /weight=\(%\d+, "i4", %\d+, None, 0, \("affine_bfloat16", -128,/,
  '8da4w-bfloat16-decomposed': /weight=\(%\d+, "i4", %\d+, None, 0, \("affine_bfloat16", -128,/,
  'int4-groups-decomposed': /weight=\(%\d+, "i4"/,
  ...Object.fromEntries(
    ['bfloat16', 'float16'].flatMap((dtype) =>
      ['', '-decomposed'].flatMap((how) => [
        [`int4-groups-${dtype}${how}`, /weight=\(%\d+, "i4", %\d+, %\d+, 32, None/],
        [`int8-groups-${dtype}${how}`, /weight=\(%\d+, "i8", %\d+, %\d+, 32, None/],
        [`int3-rows-${dtype}${how}`, /weight=\(%\d+, "i4", %\d+, None, 0, None/],
      ]),
    ),
  ),
  'tokens-groups': /weight=\(%\d+, "i4", %\d+, %\d+, 32, \("tokens", -128,/,
  'tokens-rows': /weight=\(%\d+, "i8", %\d+, None, 0, \("symmetric", -127,/,
}

for (const [file, kernel] of Object.entries(KERNELS)) {
  t.test(`integers that a plan of ${file} multiplies`, async (t) => {
    const model = await loadModule(`${FOLDER}${file}.pt2`)
    const passes = model.explain('forward', [inputOf(files[file]!)]).split('\n# ')
    const last = passes.filter((text) => text.startsWith('after ')).at(-1)!
    t.match(last, kernel)
    model.dispose()
  })
}

t.test('names of what is in tensors of subclasses', async (t) => {
  const model = await loadModule(`${FOLDER}int8-dynamic.pt2`)
  const weight = model.getAttribute('wide.weight.qdata') as Tensor
  t.equal(weight.dtype, 'int8')
  t.strictSame(weight.shape, [32, 32])
  t.equal((model.getAttribute('wide.weight.scale') as Tensor).dtype, 'float32')
  model.dispose()
})
