import t from 'tap'
import { emitOpcodes } from '../../codegen/emit/opcodes.js'
import { EFFECTS, OPERANDS, parseOpcodes, readOpcodes } from '../../codegen/opcodes.js'
import { parseEntries } from '../../codegen/yaml-file.js'
import * as generated from '../../program/generated/opcodes.js'
import { PLAIN } from '../../program/generated/plain-opcodes.js'
import { column, OPCODES } from '../../program/opcodes.js'
import { root } from './support/compile.js'

/** What is a number in the YAML file is one in the table. */
const numeric = (effect: string | number): string | number => (/^\d+$/.test(String(effect)) ? Number(effect) : effect)

t.test('the table of instructions is what is declared', (t) => {
  const declared = readOpcodes(root)
  t.equal(OPCODES.length, declared.length)
  declared.forEach((row, code) => {
    const { name, x, n, pops, pushes, doc } = row
    t.match(OPCODES[code], { code, name, x, n, pops: numeric(pops), pushes: numeric(pushes), runs: doc !== null }, name)
    t.equal(generated.Opcode[name as keyof typeof generated.Opcode], code, name)
    t.equal(PLAIN.has(name), row.isPlain, name)
    t.equal(generated.CHECKED.includes(code), row.isChecked, name)
    t.equal(generated.PROMOTED[code] ?? null, row.operator, name)
    t.equal(generated.isPromoted(code), row.operator !== null, name)
  })
  t.equal(column(0, generated.OPERAND_LETTERS)[generated.Opcode.JF], generated.OperandKind.jump)
  t.equal(column(2, generated.EFFECT_LETTERS)[generated.Opcode.DICT_CONSTRUCT], generated.StackEffect.n)
  t.equal(column(3, generated.EFFECT_LETTERS)[generated.Opcode.LOOP], generated.StackEffect.nAndOne)
  t.end()
})

t.test('letters are of one meaning', (t) => {
  for (const letters of [Object.values(OPERANDS), Object.values(EFFECTS)]) {
    t.equal(new Set(letters).size, letters.length)
    for (const letter of letters) t.match(letter, /^[^\s`\\$]$/)
  }
  t.end()
})

t.test('mistakes', (t) => {
  const first = '- opcode: A\n  value: 0\n  doc: does a\n'
  const rows: readonly (readonly [yaml: string, message: string])[] = [
    ['- opcode: a\n  value: 0\n', '1: a: an opcode needs a name in capitals'],
    ['- opcode: A\n  value: 1\n', "1: A: expected 'value: 0', which comes next"],
    ['- opcode: A\n  value: one\n', "1: A: 'value' must be a number"],
    ['- opcode: A\n  value: 0\n  y: count\n', "3: A: unknown key 'y'"],
    [`${first}  x: place\n`, "1: A: 'x' must be one of none, count,"],
    [`${first}  pops: many\n`, "1: A: 'pops' must be one of 0, 1, 2, 3, X, N, N+1, schema"],
    [`${first}  plain: 1\n`, "1: A: 'plain' must be true or false"],
    [`${first}  operator: 3\n`, "1: A: 'operator' must be a line of text"],
    [`${first}  pushes: 1\n  result: number\n`, "1: A: 'result' must be one of bool,"],
    [`${first}  result: bool\n`, "1: A: 'result' is of an opcode that leaves one value"],
    ['- opcode: A\n  value: 0\n  x: count\n', "1: A: an opcode that occurs in mobile files needs a 'doc'"],
    [`${first}- opcode: A\n  value: 1\n`, '4: A: declared twice; the other declaration is at o.yaml:1'],
  ]
  for (const [yaml, message] of rows) {
    try {
      parseOpcodes(parseEntries(yaml, 'o.yaml'))
      t.fail(message)
    } catch (error) {
      t.equal(String((error as Error).message).slice(0, message.length + 7), `o.yaml:${message}`)
    }
  }
  const text = emitOpcodes(parseOpcodes(parseEntries(`${first}  x: jump\n  pops: N+1\n- opcode: B\n  value: 1\n`, 'o.yaml')))
  t.match(text.get('program/generated/opcodes.ts'), '`\\\nA j-+0\nB`')
  t.end()
})
