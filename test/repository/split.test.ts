import { runInThisContext } from 'node:vm'
import t from 'tap'
import { toCommonJs } from '../../scripts/parts/commonjs.js'
import { inlineNumbers, numbersIn } from '../../scripts/parts/inline.js'
import { noteRuns, split } from '../../scripts/parts/split.js'

const halves = (code: string, common: readonly string[], makesFunctions = false) =>
  split(code, { isCommon: (name) => common.includes(name), makesFunctions, commonId: './file.js', rareId: 'rare:file' })

t.test('functions that usual programs do not run go to the other half, with what only they use', (t) => {
  const code = `import { a, b } from './other.js'
import * as all from './all.js'
const TABLE = [1, 2]
const NAMES = { x: 1 }
export function used(x) { return a(x) + helper(x) + rarely(NAMES.x) }
function helper(x) { return x }
export function rarely(x) { return b(x) + TABLE[x] + helper(x) + all.some(x) + all.other }
`
  const { common, rare } = halves(code, ['used', 'helper'])
  t.strictSame(common.functions, ['used'])
  t.strictSame(rare!.functions, ['rarely'])
  t.strictSame(common.passedOn, ['rare:file'])
  t.strictSame(common.imports, [
    { from: './other.js', names: ['a'] },
    { from: 'rare:file', names: ['rarely'] },
  ])
  t.strictSame(rare!.imports, [
    { from: './other.js', names: ['b'] },
    { from: './all.js', names: ['some', 'other'] },
  ])
  t.notMatch(common.code, 'TABLE')
  t.match(rare!.code, /const TABLE = \[1, 2\]/)
  t.match(rare!.code, /import \{ helper\$\w* as helper \} from ".\/file.js"/)
  t.match(common.code, /export \{ helper as helper\$\w* \}/)
  t.end()
})

t.test('a file whose functions all run stays whole', (t) => {
  const { common, rare } = halves('let n = 0\nexport function next() { return n++ }\n', ['next'])
  t.equal(rare, null)
  t.strictSame(common.functions, ['next'])
  t.end()
})

t.test('functions that use a variable that changes stay with it', (t) => {
  const { rare } = halves(
    'let n = 0\nexport function next() { return n++ }\nexport function last() { return n }\nexport const twice = (x) => 2 * x\n',
    ['next'],
  )
  t.strictSame(rare!.functions, ['twice'])
  // alone, the variable goes with them
  t.match(halves('let n = 0\nexport function reset() { n = 0 }\n', []).rare!.code, /let n = 0/)
  t.end()
})

t.test('what is evaluated at load stays with all that it calls', (t) => {
  const code = `export const LIST = [1].map(one).concat(make())
class Base {}
export class Derived extends Base { static table = build(); method() { return late() } }
function one(x) { return inner(x) }
function inner(x) { return x }
function make() { return [] }
function build() { return {} }
function late() { return 1 }
start(() => {})
function start(f) { f() }
`
  const { common, rare } = halves(code, [])
  for (const name of ['one', 'inner', 'make', 'build', 'start']) t.match(common.code, `function ${name}(`)
  t.match(common.code, /class Base/)
  t.strictSame(rare!.functions, ['late'])
  t.end()
})

t.test('constants that calls make are functions where that is said', (t) => {
  const code = 'function unary(f) { return f }\nexport const sin = unary(Math.sin)\nexport const cos = unary(Math.cos)\n'
  t.strictSame(halves(code, ['sin', 'unary'], true).rare!.functions, ['cos'])
  t.equal(halves(code, ['unary']).rare, null)
  t.end()
})

t.test('runs are noted at the start of each function', (t) => {
  const ran: unknown[] = []
  const code = noteRuns(
    'export function f(x) { return x }\nexport const g = (x) => ({ x })\nconst made = (h) => h\nexport const h = made((x) => x)\n',
    'file.ts',
    true,
  )
  const run = runInThisContext(`(__ran) => { ${code.replaceAll('export ', '')}; return [f(1), g(2), h(3)] }`) as (note: unknown) => unknown
  t.strictSame(
    run((place: string) => ran.push(place)),
    [1, { x: 2 }, 3],
  )
  t.strictSame(ran, ['file.ts made', 'file.ts f', 'file.ts g', 'file.ts h'])
  t.end()
})

t.test('numbers take the place of keys of enumerations', (t) => {
  const numbers = numbersIn('export const Op = { add: 0, sub: 1 }\nexport const other = { add: x }\nexport const text = { a: "b" }\n')
  t.strictSame([...numbers.keys()], ['Op'])
  const code = `import { Op } from './ops.js'
import * as ops from './ops.js'
import { Op as Elsewhere } from './elsewhere.js'
const Alias = ops.Op
f(Op.add, ops.Op.sub, Alias.sub, Op[name], Elsewhere.add, Op.missing)
`
  t.match(
    inlineNumbers(code, (from) => (from === './ops.js' ? numbers : new Map())),
    'f((0), (1), (1), Op[name], Elsewhere.add, Op.missing)',
  )
  const shadowed = `import { Op } from './ops.js'\nfunction f(Op) { return Op.add }\n`
  t.equal(
    inlineNumbers(shadowed, () => numbers),
    shadowed,
  )
  t.end()
})

t.test('chunks become CommonJS whose imports are constants', (t) => {
  const code = `import { a as b, c } from './other.cjs'
import whole from 'package'
let f = (...args) => (f = part('x')[1])(...args)
const g = () => b + c + whole
export { f, g as default }
`
  const text = toCommonJs(code)
  t.match(text, /^'use strict';/)
  t.match(text, 'const { a: b, c: c } = require("./other.cjs");')
  t.match(text, 'const whole = require("package");')
  t.match(text, /exports\.f = f;\nexports\.default = g;\n$/)
  t.match(toCommonJs('export { a as b } from "./other.cjs"\n'), /const from0 = require\("\.\/other\.cjs"\);[^]*exports\.b = from0\.a;/)
  // an importer would keep the first value
  t.throws(() => toCommonJs('let n = 0\nconst next = () => n++\nexport { n, next }\n'), /change: n/)
  t.end()
})
