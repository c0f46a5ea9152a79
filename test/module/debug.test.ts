import t from 'tap'
import { load } from './fixtures.js'

t.test('where an instruction comes from', (t) => {
  const file = load('debugged.ptl')
  const forward = file.functions.find((fn) => fn.name === '__torch__.Debugged.forward')!
  t.equal(forward.debugHandles?.length, forward.code.length / 3)
  const operators = (name: string): number => {
    for (let pc = 0; pc < forward.code.length / 3; pc++) {
      if (forward.code[3 * pc] === 0 && forward.operators[forward.code[3 * pc + 1]!]!.name === name) return pc
    }
    throw new Error(`no ${name}`)
  }
  const text = file.debug!.stackTraceAt(forward.name, operators('aten::add'))!
  const places = [...text.matchAll(/make_fixtures\.py", line \d+, in (\w+)/g)].map((match) => match[1])
  t.same(places, ['forward', 'helper', 'forward'], 'outermost first')
  t.match(text, / {8}return self\.helper\(y\)\n {15}~~~~~~~~~~~ <--- HERE/)
  t.match(text, / {8}return torch\.relu\(x\) \+ torch\.ones\(3, 4\)\n {15}~+ <--- HERE$/)
  const outer = file.debug!.stackTraceAt(forward.name, operators('aten::mul'))!
  t.match(outer, / {8}y = x \* 2\n {12}~~~~~ <--- HERE\n {8}return self\.helper\(y\)/)
  t.equal(file.debug!.stackTraceAt(forward.name, 10_000), undefined)
  t.equal(file.debug!.stackTraceAt('nobody', 0), undefined)
  file.close()
  t.end()
})

t.test('files without debug information', (t) => {
  const file = load('linear.ptl')
  t.equal(file.debug, undefined)
  file.close()
  t.end()
})

t.test('a closed file explains nothing', (t) => {
  const file = load('debugged.ptl')
  file.close()
  t.equal(file.debug!.stackTraceAt('__torch__.Debugged.forward', 1), undefined)
  t.end()
})
