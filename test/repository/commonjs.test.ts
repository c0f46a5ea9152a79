import t from 'tap'
import { toCommonJs } from '../../scripts/parts/commonjs.js'

t.test('chunks become CommonJS whose imports are constants', (t) => {
  const code = `import { a as b, c } from './other.cjs'
import whole from 'package'
let f = (...args) => (f = part('x')[1])(...args)
const g = () => b + c + whole
export { f, g as default }
`
  const text = toCommonJs(code)
  t.match(text, 'const { a: b, c: c } = require("./other.cjs");')
  t.match(text, 'const whole = require("package");')
  t.match(text, /exports\.f = f;\nexports\.default = g;\n$/)
  t.match(toCommonJs('export { a as b } from "./other.cjs"\n'), /const from0 = require\("\.\/other\.cjs"\);[^]*exports\.b = from0\.a;/)
  // an importer would keep the first value
  t.throws(() => toCommonJs('let n = 0\nconst next = () => n++\nexport { n, next }\n'), /change: n/)
  t.end()
})
