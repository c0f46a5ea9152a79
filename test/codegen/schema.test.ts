import t from 'tap'
import { aliasOf, isOutArgument, qualifiedName } from '../../codegen/schema/model.js'
import { parseSchema, parseType } from '../../codegen/schema/parser.js'
import { printSchema, printType } from '../../codegen/schema/printer.js'

const SCHEMAS = [
  'relu(Tensor self) -> Tensor',
  'aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)',
  'split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]',
  'max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False) -> Tensor',
  'index.Tensor(Tensor self, Tensor?[] indices) -> Tensor',
  'nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor',
  'ne.Scalar(Tensor self, Scalar other=1e-05, float x=-2.5, int[] dims=[-2,-1], str s="\\"\'\\\\\\n") -> Tensor',
  'topk(Tensor self, int k) -> (Tensor values, Tensor indices)',
  '_foreach_add_(Tensor(a!)[] self) -> ()',
  'aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)',
  'aten::to.prim_other(Tensor(a) self, bool non_blocking=False) -> Tensor(b|a)',
  'aten::get.str(Dict(str, t) self, str key) -> t(*)?',
  'aten::items.str(Dict(str, t) self) -> ((str, t)[])',
  'aten::format(str self, ...) -> str',
  'prim::TupleUnpack(Any tup) -> ...',
  'quantized::conv2d.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float output_scale) -> Tensor',
]

await t.test('schemas of every kind print back as they were', (t) => {
  for (const text of SCHEMAS) {
    t.equal(printSchema(parseSchema(text)), text)
    t.same(parseSchema(printSchema(parseSchema(text))), parseSchema(text))
  }
  t.end()
})

await t.test('the model says what the text says', (t) => {
  const schema = parseSchema('ns::add.out(Tensor self, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)')
  t.equal(qualifiedName(schema), 'ns::add.out')
  t.equal(qualifiedName(parseSchema('relu(Tensor self) -> Tensor')), 'aten::relu')
  t.same(
    schema.arguments.map((a) => [a.name, a.kwargOnly, isOutArgument(a)]),
    [
      ['self', false, false],
      ['alpha', true, false],
      ['out', true, true],
    ],
  )
  t.same(aliasOf(parseType('Tensor(a! -> a|b)[]')), { before: ['a'], write: true, after: ['a', 'b'] })
  t.equal(printType(parseType('Tensor(a!)[]'), false), 'Tensor[]')
  t.match(parseType('int[2]?'), { kind: 'optional', inner: { kind: 'list', size: 2 } })
  t.end()
})

await t.test('a bad schema says where and what was expected', (t) => {
  const cases: [string, string][] = [
    ['f(Tensor) -> Tensor', "an argument name expected, found ')' at column 9"],
    ['f(Tensor x -> Tensor', "',' expected, found '->' at column 12"],
    ['f(Tensor x) Tensor', "'->' expected, found 'Tensor' at column 13"],
    ['f(Tensor x) -> Tensor Tensor x', "the end expected, found 'x'"],
    ['f(int[0] x) -> int', 'a list size that is not a positive integer'],
    ['f(int x, int x) -> int', "a second argument 'x'"],
    ['f(int x, *, *, int y) -> int', "a second '*'"],
    ['f(str s="a) -> int', 'unterminated string at column 9'],
    ['f(int x=%) -> int', "unexpected character '%' at column 9"],
  ]
  for (const [text, message] of cases)
    t.throws(() => parseSchema(text), { name: 'SchemaError', message: new RegExp(escape(message)) }, text)
  t.end()
})

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
