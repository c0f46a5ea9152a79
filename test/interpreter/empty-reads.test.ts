import { readdirSync } from 'node:fs'
import t from 'tap'
import { loadModelFile } from '../../formats/read.js'
import { emptyReadIn, type EmptyRead, withoutEmptyReads } from '../../program/empty-reads.js'
import { fixturePath } from '../module/fixtures.js'
import { assemble, operator } from './assemble.js'

const RAISE = operator('prim::RaiseException', 1, () => [])

function found(...code: readonly string[]): EmptyRead | null {
  return emptyReadIn(assemble({ code: code.join('\n'), registers: 70, constants: [0], operators: [RAISE] }).source)
}

t.test('code without jumps', (t) => {
  t.equal(found('STORE 1', 'LOAD 1', 'MOVE 1', 'RET'), null)
  t.same(found('STOREN 1 2', 'LOAD 3', 'RET'), { pc: 1, register: 3 })
  t.same(found('STOREN 33 33', 'MOVE 65', 'MOVE 33', 'LOAD 33', 'RET'), { pc: 3, register: 33 })
  t.same(found('STORE 1', 'DROPR 1', 'MOVE 1', 'RET'), { pc: 2, register: 1 })
  t.equal(found('STORE 1', 'MOVE 1', 'STORE 1', 'LOAD 1', 'RET'), null)
  t.equal(found('DROPR 1', 'LOADC 0', 'RET'), null, 'there may be nothing to drop')
  t.end()
})

t.test('branches', (t) => {
  const either = (then: string, other: string): EmptyRead | null =>
    found('STOREN 1 2', 'LOAD 1', 'JF 3', then, 'JMP 2', other, 'DROP', 'LOAD 2', 'RET')
  t.equal(either('LOAD 2', 'LOADC 0'), null)
  t.same(either('MOVE 2', 'LOADC 0'), { pc: 7, register: 2 })
  t.same(either('LOADC 0', 'MOVE 2'), { pc: 7, register: 2 })
  const stored = (then: string, other: string): EmptyRead | null =>
    found('STORE 1', 'LOADC 0', 'MOVE 1', 'JF 3', then, 'JMP 2', other, 'LOAD 5', 'RET')
  t.equal(stored('STORE 5', 'STORE 5'), null)
  t.same(stored('STORE 5', 'STORE 6'), { pc: 7, register: 5 })
  t.end()
})

t.test('ways that end', (t) => {
  const ends = (how: string): EmptyRead | null => found('STOREN 1 2', 'MOVE 1', 'JF 4', 'MOVE 2', how, 'JMP 1', 'LOAD 2', 'RET')
  t.equal(ends('RET'), null)
  t.equal(ends('RAISE_EXCEPTION'), null)
  t.equal(ends('OP 0'), null, 'by an operator that raises')
  t.same(ends('DROP'), { pc: 6, register: 2 })
  t.end()
})

t.test('loops', (t) => {
  /** Around a body, with two arguments in registers 2 and 3. */
  const loop = (before: readonly string[], body: readonly string[], behind: readonly string[]): EmptyRead | null => {
    const back = `JMP ${-body.length - 2}`
    return found('STOREN 2 2', ...before, `LOOP ${body.length + 3} 2`, 'STORE 4', ...body, back, ...behind, 'RET')
  }
  t.equal(loop(['LOAD 2'], ['LOAD 2', 'LOAD 3'], ['MOVE 2', 'MOVE 3']), null)
  t.same(loop(['LOAD 2'], ['MOVE 2', 'LOAD 3'], ['MOVE 3']), { pc: 4, register: 2 }, 'read again in the next turn')
  t.same(loop([], ['LOAD 2', 'DROPR 2'], []), { pc: 3, register: 2 })
  t.equal(loop([], ['LOADC 0', 'STORE 5', 'MOVE 5'], []), null, 'of one turn')
  t.same(loop([], ['LOADC 0', 'STORE 5', 'LOAD 5'], ['LOAD 5']), { pc: 7, register: 5 }, 'there may be no turn')
  t.same(loop([], ['LOAD 5', 'STORE 5'], []), { pc: 3, register: 5 })
  // the outer loop brings the inner one less in its second turn
  const nested = (...inner: readonly string[]): EmptyRead | null =>
    found('STOREN 2 2', 'LOOP 8 2', 'LOOP 5 2', ...inner, 'JMP -4', 'DROPR 3', 'JMP -7', 'RET')
  t.equal(nested('LOAD 2', 'DROP', 'DROP'), null)
  t.same(nested('LOAD 3', 'DROP', 'DROP'), { pc: 3, register: 3 })
  t.end()
})

t.test('code that is made here is refused where it takes what is not there', (t) => {
  const code = assemble({ code: 'STORE 1\nMOVE 1\nMOVE 1\nRET' }).source
  t.throws(() => withoutEmptyReads(code), {
    code: 'INTERNAL',
    message: '__torch__.M.forward, instruction 2: register 1 is empty on a path to here',
  })
  t.end()
})

t.test('files', (t) => {
  const names = readdirSync(fixturePath('.'), { recursive: true, encoding: 'utf8' })
  const programs = names.filter((name) => /\.(ptl|ff|pt|pt2)$/.test(name) && !['tensors.pt', 'legacy.pt'].includes(name))
  for (const name of programs) {
    const program = loadModelFile(fixturePath(name))
    t.same(program.functions.map(emptyReadIn).filter((read) => read !== null), [], name)
    program.close()
  }
  t.ok(programs.length > 100)
  t.end()
}) // prettier-ignore
