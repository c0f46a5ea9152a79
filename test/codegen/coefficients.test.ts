import { fileURLToPath } from 'node:url'
import t from 'tap'
import { emitCoefficients } from '../../codegen/emit/coefficients.js'
import { parseEntries, readEntries } from '../../codegen/yaml-file.js'

const emit = (text: string): string[] => [...emitCoefficients(parseEntries(text, 'c.yaml')).values()]

t.test('numbers and series are the same in both languages', async (t) => {
  const [header, script] = emit(`
- number: ROUNDER
  value: 12582912
  doc: one
- series: EXP
  values: [1, -0.5, 1.5e-8]
  doc: two
- number: LINEAR
  value: 1.5957691216057308
  wide: true
  doc: three
`)
  t.match(header, '// one\nconstexpr float ROUNDER = 12582912.f;\n')
  t.match(header, 'constexpr float EXP[] = {1.f, -0.5f, 1.5e-8f};\n')
  t.match(header, 'constexpr double LINEAR = 1.5957691216057308;\n')
  t.match(script, 'export const ROUNDER = 12582912\n')
  t.match(script, 'export const EXP = [1, -0.5, 1.5e-8] as const\n')
})

t.test('mistakes are named', async (t) => {
  t.throws(() => emit('- number: a\n  value: 1\n'), /c\.yaml:1: a: needs a name in capitals/)
  t.throws(() => emit('- number: A\n  value: [1]\n'), /'value' must be a number/)
  t.throws(() => emit('- series: A\n  values: 1\n'), /'values' must be a list of numbers/)
  t.throws(() => emit('- series: A\n  values: [x]\n'), /'values' must be a list of numbers/)
  t.throws(() => emit('- number: A\n  value: 1\n  steps: 2\n'), /3: A: unknown key 'steps'/)
  t.throws(() => emit('- number: A\n  value: 1\n- number: A\n  value: 2\n'), /3: A: stands here twice/)
})

t.test('the table of the library reads', async (t) => {
  const path = fileURLToPath(new URL('../../codegen/coefficients.yaml', import.meta.url))
  t.equal(emitCoefficients(readEntries(path, 'codegen/coefficients.yaml')).size, 2)
})
