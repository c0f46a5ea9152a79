import t from 'tap'
import { emitCoefficients, readCoefficients } from '../../codegen/emit/coefficients.js'
import { parseEntries } from '../../codegen/yaml-file.js'

const emit = (text: string): string[] => [...emitCoefficients(readCoefficients(parseEntries(text, 'c.yaml'))).values()]

t.test('numbers and series in C++', async (t) => {
  const [header] = emit(`
- number: ROUNDER
  value: 12582912
  doc: one
- series: EXP
  values: [1, -0.5, 1.5e-8]
  doc: two
`)
  t.match(header, '// one\nconstexpr float ROUNDER = 12582912.f;\n')
  t.match(header, 'constexpr float EXP[] = {1.f, -0.5f, 1.5e-8f};\n')
})

t.test('mistakes are named', async (t) => {
  t.throws(() => emit('- number: a\n  value: 1\n'), /c\.yaml:1: a: needs a name in capitals/)
  t.throws(() => emit('- number: A\n  value: [1]\n'), /'value' must be a number/)
  t.throws(() => emit('- series: A\n  values: 1\n'), /'values' must be a list of numbers/)
  t.throws(() => emit('- series: A\n  values: [x]\n'), /'values' must be a list of numbers/)
  t.throws(() => emit('- number: A\n  value: 1\n  steps: 2\n'), /3: A: unknown key 'steps'/)
  t.throws(() => emit('- number: A\n  value: 1\n- number: A\n  value: 2\n'), /3: A: stands here twice/)
})
