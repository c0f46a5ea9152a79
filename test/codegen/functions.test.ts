import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { emitFunctions } from '../../codegen/emit/functions.js'
import { readCoefficients } from '../../codegen/emit/coefficients.js'
import { readFunctions } from '../../codegen/functions/program.js'
import { parseEntries, readEntries } from '../../codegen/yaml-file.js'

const NUMBERS = new Map<string, number | readonly number[]>([
  ['HALF', 0.5],
  ['LINE', [1, 2]],
])

function programs(text: string): ReturnType<typeof readFunctions> {
  return readFunctions(parseEntries(text, 'f.yaml'), NUMBERS)
}

const ofSteps = (steps: string, head = 'function: f(x)'): string =>
  `- ${head}\n  doc: one\n  steps: |\n    ${steps.replaceAll('\n', '\n    ')}\n`

/** `op operands` of each step: values by their numbers, numbers as they are. */
function linesOf(text: string): string[] {
  return programs(text)
    .at(-1)!
    .steps.map(({ op, operands, series, shift }) => {
      const texts = operands.map((o) => (o.kind === 'value' ? `v${o.index}` : o.kind === 'number' ? String(o.value) : o.name))
      return [op, ...texts, ...series, ...(op.startsWith('shift') ? [shift] : [])].join(' ')
    })
}

t.test('a straight line, in the order of the text', async (t) => {
  t.same(linesOf(ofSteps('a = x * HALF\nreturn a / (x + 1)')), ['mul v0 0.5', 'add v0 1', 'div v1 v2'])
  t.same(linesOf(ofSteps('return fma(-x, 2, 3) - x * HALF')), ['fnma v0 2 3', 'minus_product v1 v0 0.5'])
  t.same(linesOf(ofSteps('return fma(x, x, -x)')), ['fms v0 v0 v0'])
  t.same(linesOf(ofSteps('return series(x, LINE, 0.5)')), ['series v0 1 1'])
  t.same(linesOf(ofSteps('i = bits(x) - 0x10\nreturn from_bits(i << 2)')), ['bits v0', 'int_sub v1 16', 'shift_left v2 2', 'from_bits v3'])
})

t.test('comparisons stand in front of what selects by them', async (t) => {
  t.same(linesOf(ofSteps('return select(x < 1, x + 1, x / 2)')), ['add v0 1', 'div v0 2', 'less v0 1', 'select v3 v1 v2'])
})

t.test('parts are written out, and what changes nothing is left out', async (t) => {
  const part = ofSteps('n = round(x * unit)\nreturn n, rounded(x * unit) + low', 'part: split(x, low, unit)')
  t.same(linesOf(`${part}${ofSteps('n, r = split(x, 0, 1)\nreturn scale(r, n)')}`), ['round v0', 'scale v0 v1'])
  t.same(linesOf(`${part}${ofSteps('n, r = split(x, 0, HALF)\nreturn scale(r, n)')}`), [
    'mul v0 0.5',
    'round v1',
    'mul v0 0.5',
    'rounded v3',
    'scale v4 v2',
  ])
})

t.test('mistakes are named', async (t) => {
  t.throws(() => programs(ofSteps('return y')), /f\.yaml:1: f: there is no 'y'/)
  t.throws(() => programs(ofSteps('return x * x + 1')), /a sum with a product needs fma\(\) or rounded\(\)/)
  t.throws(() => programs(ofSteps('return at_most(x, x)')), /'at_most' needs a number/)
  t.throws(() => programs(ofSteps('return 1 / 2')), /must return its last step/)
  t.throws(() => programs(ofSteps('a = x + 1\nreturn x')), /must return its last step/)
  t.throws(() => programs(ofSteps('a = x + 1')), /must end with return/)
  t.throws(() => programs(ofSteps('return cube(x)')), /there is no function 'cube'/)
  t.throws(() => programs(ofSteps('return scale(x)')), /'scale' takes 2 operands/)
  t.throws(() => programs(ofSteps('return (x')), /'\)' was expected/)
  t.throws(() => programs(ofSteps('return x ? 1')), /'\? 1' cannot be read/)
  t.throws(() => programs(ofSteps('return x + 1 x')), /'x' was not expected/)
  t.throws(() => programs(ofSteps('return series(x, HALF)')), /there is no series 'HALF'/)
  t.throws(() => programs(ofSteps('return x + 1', 'function: F(x)')), /expected name\(x, \.\.\.\)/)
  t.throws(() => programs(`${ofSteps('return x + 1')}${ofSteps('return x + 2')}`), /f: stands here twice/)
  t.throws(() => programs(`${ofSteps('return x + 1')}  size: 2\n`), /unknown key 'size'/)
})

t.test('the functions of the library', async (t) => {
  const read = (name: string): ReturnType<typeof readEntries> =>
    readEntries(fileURLToPath(new URL(`../../codegen/${name}`, import.meta.url)), `codegen/${name}`)
  const numbers = new Map(readCoefficients(read('coefficients.yaml')).map(({ name, value }) => [name, value]))
  const files = emitFunctions(readFunctions(read('functions.yaml'), numbers))
  t.equal(files.size, 3)
  for (const [path, text] of files) t.equal(readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8'), text, path)
})
