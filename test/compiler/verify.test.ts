import t from 'tap'
import { parse } from './pass-weights.js'

t.test('broken graphs are found', (t) => {
  const wrong = (text: string, message: RegExp): void => {
    t.throws(() => parse(text), { message })
  }
  wrong('%1: float32[4] @1 = aten::relu(%0)\nreturn %1\n', /%0 is not defined/)
  wrong('input %0: float32[4] @0\n%0: float32[4] @1 = aten::relu(%0)\nreturn %0\n', /defined twice/)
  wrong('constant %0: float32[4] @0 = "bias"\n%1: float32[4] @0 = aten::relu_(%0!)\nreturn %1\n', /a constant/)
  wrong('input %0: float32[4] @0\n%1: float32[4] @1 = aten::relu(%0, 1)\nreturn %1\n', /expected 1 arguments/)
  wrong('input %0: float32[4] @0\n%1: float32[4] @1 = aten::nothing(%0)\nreturn %1\n', /no operator/)
  wrong('input %0: float32[4] @0\n', /ends with what it returns/)
  const row = (call: string): string => `input %0: float32[4, 4] @0\n%1: float32[4, 4] @1 = ${call}\nreturn %1\n`
  wrong(row('linear(input=%0)'), /linear needs field weight/)
  wrong(row('linear(input=%0, weight=%0, wieght=%0)'), /linear has no field wieght/)
  wrong(row('linear(input=%0, weight=3)'), /expected a weight/)
  wrong(row('linear(input=%0, weight=%0, form="sparse")'), /expected one of "dense"/)
  wrong(row('linear(input=%0, weight=%0, clamp=[0.])'), /a smallest and a largest number/)
  wrong(row('linear(input=%0, weight=%1)'), /used before it is defined/)
  wrong('constant %0: float32[4, 4] @0 = "bias"\nreturn %0\n', /leaves its storage/)
  t.end()
})
