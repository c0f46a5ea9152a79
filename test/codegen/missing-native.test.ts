import t from 'tap'
import { emitOperators } from '../../codegen/generate.js'
import { stubModules, typeErrors } from './support/compile.js'
import { build, declare } from './support/declare.js'

const operators = declare(`
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU: relu
- func: neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg
`)
const files = emitOperators(operators, build('CPU', 'QuantizedCPU'))
const stubs = stubModules(files.get('runtime/operators/support/generated/interfaces.ts')!)

function errorsWith(cpu: string): string {
  return typeErrors(new Map([...files, ...stubs, ['runtime/operators/cpu/index.ts', cpu]])).join('\n')
}

const head = "import type { Tensor } from '../../tensor/tensor.js'\n"

await t.test('all there: compiles', (t) => {
  t.equal(
    errorsWith(`${head}export declare const relu: (self: Tensor) => Tensor\nexport declare const neg: (self: Tensor) => Tensor\n`),
    '',
  )
  t.end()
})

await t.test('a missing native function is a compile error that names it', (t) => {
  t.match(errorsWith(`${head}export declare const relu: (self: Tensor) => Tensor\n`), /modules\.ts.*Property 'neg' is missing/)
  t.end()
})

await t.test('so is a mistyped one', (t) => {
  const errors = errorsWith(
    `${head}export declare const relu: (self: Tensor) => Tensor\nexport declare const neg: (self: Tensor) => number\n`,
  )
  t.match(errors, /modules\.ts.*'neg\(\.\.\.\)' are incompatible/)
  t.end()
})
