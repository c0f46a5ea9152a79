import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { generateCustom } from '../../codegen/custom.js'
import { parseKernels } from '../../codegen/kernel-abi/parse.js'
import { checkDispatch } from '../../codegen/model/check-dispatch.js'
import { checkFacts } from '../../codegen/model/facts.js'
import type { Operator } from '../../codegen/model/operator.js'
import { parseEntry } from '../../codegen/model/parse-entry.js'
import { resolveOperators } from '../../codegen/model/resolve.js'
import { expandTemplates } from '../../codegen/model/template.js'
import { parseEntries } from '../../codegen/yaml-file.js'
import { root } from './support/compile.js'

// What codegen refuses, each with the start of its message. All but templates goes through `ptlite codegen --ops` as well.

type Row = readonly [yaml: string, message: string]

/** A schema by itself, and what is wrong with it. */
const schema = (text: string, message: string): Row => [
  `- func: "${text.replaceAll('"', '\\"')}"\n`,
  `1: ${text.split('(')[0]!}: ${message}`,
]
/** Keys behind `- func: f(Tensor self, int dim, Scalar x) -> Tensor`. */
const key = (lines: string, message: string, line = 2): Row => [
  `- func: f(Tensor self, int dim, Scalar x) -> Tensor\n  ${lines}\n`,
  `${line}: f: ${message}`,
]
const out = 'f.out(Tensor self, int dim, Scalar x, *, Tensor(a!) out) -> Tensor(a!)'
/** Keys behind a structured entry. */
const structured = (lines: string, message: string, line = 5): Row => [
  `- func: ${out}\n  structured: True\n  dispatch:\n    CPU: g\n  ${lines}\n`,
  `${line}: f.out: ${message}`,
]
/** A further entry beside a structured one. */
const beside = (func: string, message: string): Row => [
  `- func: ${out}\n  structured: True\n  dispatch: { CPU: g }\n- func: ${func}\n  structured_delegate: f.out\n`,
  `4: aten::${func.split('(')[0]!}: ${message}`,
]

const OPERATORS: readonly Row[] = [
  // names
  schema('a.b::f(int x) -> int', "the namespace 'a.b' is no identifier"),
  schema('f.a.b(int x) -> int', "the overload 'a.b' is no identifier"),
  schema('f.default(int x) -> int', "the overload without a name is 'default'"),
  schema('f(int x.y) -> int', "the argument 'x.y' is no identifier"),
  schema('f(int x, int x) -> int', "a second argument 'x'"),
  schema('f(int x) -> int a.b', "the result 'a.b' is no identifier"),
  schema('f(int x) -> (int a, int a)', "two results are called 'a'"),
  schema('f(int x, *) -> int', "arguments behind '*' expected"),
  schema('f(int x, *, ...) -> int', "arguments behind '*' expected"),
  schema('f(int x) -> int; g', "unexpected character ';'"),
  ['- func: f(int x) -> int\n- func: f(int x) -> int\n', '2: aten::f: declared twice; the other declaration is at ops.yaml:1'],
  [
    '- func: f.a_b(int x) -> int\n- func: f_a.b(int x) -> int\n',
    "2: aten::f_a.b: its function would be called 'f_a_b' as that of aten::f.a_b (ops.yaml:1)",
  ],
  // types
  schema('f(Tensr x) -> Tensor', "unknown type 'Tensr'"),
  schema('f(constructor x) -> Tensor', "unknown type 'constructor'"),
  schema('f(Dict(str) x) -> Tensor', "'Dict' has 2 parameters, not 1, in 'Dict(str)'"),
  schema('f(Future(int, int) x) -> Tensor', "'Future' has 1 parameter, not 2,"),
  schema('f((Dict(str), int) x) -> Tensor', "'Dict' has 2 parameters, not 1,"),
  schema('f(int?? x) -> Tensor', "twice optional in 'int??'"),
  schema('f(int[0] x) -> Tensor', 'a list size that is not a positive integer'),
  schema('f(int(a!) x) -> Tensor', "a 'int' cannot be written in 'int(a!)'"),
  // defaults
  schema('f(int x=1.5) -> Tensor', "the default of 'x' is no int"),
  schema("f(int x='a') -> Tensor", "the default of 'x' is no int"),
  schema('f(int x=True) -> Tensor', "the default of 'x' is no int"),
  schema('f(int x=None) -> Tensor', "the default of 'x' is no int"),
  schema('f(int x=long) -> Tensor', "the default of 'x' is no int"),
  schema('f(int x=constructor) -> Tensor', "the default of 'x' is no int"),
  schema('f(int x=9223372036854775808) -> Tensor', "the default of 'x' needs more than 64 bits"),
  schema('f(int[] x=[1, -9223372036854775809]) -> Tensor', "the default of 'x' needs more than 64 bits"),
  schema('f(bool x=1) -> Tensor', "the default of 'x' is no bool"),
  schema('f(float x=True) -> Tensor', "the default of 'x' is no float"),
  schema('f(str x=1) -> Tensor', "the default of 'x' is no str"),
  schema('f(str? x=1) -> Tensor', "the default of 'x' is no str?"),
  schema('f(int[] x=1) -> Tensor', "the default of 'x' is no int[]"),
  schema('f(int[2] x=[1, 2, 3]) -> Tensor', "the default of 'x' has 3 elements, 'int[2]' has 2"),
  schema('f(int[] x=[1, None]) -> Tensor', "the default of 'x' is no int[]"),
  schema('f(Tensor x=1) -> Tensor', "the default of 'x' is no Tensor"),
  schema('f(Tensor x=None) -> Tensor', "the default of 'x' is no Tensor"),
  schema('f(ScalarType x=Mean) -> Tensor', "the default of 'x' is no ScalarType"),
  schema('f(MemoryFormat? x=long) -> Tensor', "the default of 'x' is no MemoryFormat?"),
  schema('f(Dict(str, int) x=1) -> Tensor', "the default of 'x' is no Dict(str, int)"),
  schema('f(int x=1, Tensor y) -> Tensor', "'y' needs a default, since 'x' before it has one"),
  // alias annotations
  schema('f(Tensor(!) x) -> Tensor', 'an alias set expected'),
  schema('f(Tensor(*!) x) -> Tensor', "'x' is written: '!' needs the name of an alias set"),
  schema('f(Tensor(a!) x, Tensor(a!) y) -> ()', "'x' and 'y' are both written and of one alias set, 'a'"),
  schema('f(Tensor(a!) x, Tensor(a) y) -> ()', "'y' is of the alias set 'a', which 'x' writes, and says no '!'"),
  schema('f(Tensor(a!) x) -> Tensor(a)', "a result is of the alias set 'a', which is written, and says no '!'"),
  schema('f(Tensor(a) x) -> Tensor(a!)', "a result says '!' of the alias set 'a', which no argument writes"),
  schema('f(Tensor(a) x) -> Tensor(b)', "a result is of the alias set 'b', and no argument is"),
  schema('f(Tensor x) -> Tensor(a!)', "a result is of the alias set 'a', and no argument is"),
  schema('f(Tensor(a) x) -> Tensor(a -> b)', "a result has no alias set of its own behind '->'"),
  schema('f_(Tensor self) -> Tensor', "'f_' writes 'self': it must be 'Tensor(a!)'"),
  schema('f_(Tensor[] self) -> ()', "'f_' writes 'self': it must be 'Tensor(a!)[]'"),
  schema('f_(Tensor(a!) self) -> Tensor', "'self' is written in place, so the first result must be 'Tensor(a!)'"),
  schema('f_(Tensor(a!) self) -> ()', "'self' is written in place, so the first result must be 'Tensor(a!)'"),
  schema('f.out(Tensor x, *, Tensor out) -> Tensor', "'out' is written: it needs an alias annotation, as 'Tensor(a!) out'"),
  schema('f.x_out(Tensor x, *, Tensor[] out1) -> ()', "'out1' is written: it needs an alias annotation"),
  schema('f.out(Tensor x) -> Tensor', "the overload 'out' writes no argument"),
  schema('f.out(Tensor x, *, Tensor(a!) out) -> Tensor', "'out' is written, so result 1 must be 'Tensor(a!)'"),
  schema('f.out(Tensor x, *, Tensor(a!) out) -> ()', "'out' is written, so result 1 must be 'Tensor(a!)'"),
  schema('f.out(*, Tensor(a!) p, Tensor(b!) q) -> (Tensor(b!), Tensor(a!))', "'p' is written, so result 1 must be 'Tensor(a!)'"),
  schema('f.out(*, Tensor(a!)[] out) -> Tensor(a!)[]', 'lists that are written are no results'),
  // the entry
  ['- 1\n', '1: entry: expected a map'],
  ['f: 1\n', '1: expected a list of entries'],
  ['- 1: 2\n', '1: entry: expected a plain key'],
  ['- {}\n', "1: entry: 'func' is missing"],
  ['- func: 1\n', "1: entry: 'func' must be a schema"],
  ['- func:\n', "1: entry: 'func' must be a schema"],
  ['- func: [f]\n', "1: entry: 'func' must be a schema"],
  ['- func: &a f(int x) -> int\n- func: *a\n', "2: an entry is written out: no '*a'"],
  ['- func: !t f(int x) -> int\n', '1: Unresolved tag'],
  ['- func: f(int x) -> int\n  func: f(int x) -> int\n', '2: Map keys must be unique'],
  key('dispach: { CPU: f }', "unknown key 'dispach'"),
  key('constructor: 1', "unknown key 'constructor'"),
  // keys: wrong types, unknown and repeated values
  ...[
    'structured',
    'complex',
    'device_guard',
    'manual_kernel_registration',
    'manual_cpp_binding',
    'use_const_ref_for_mutable_tensors',
  ].flatMap((name) => ['1', 'maybe', '', '[True]'].map((value) => key(`${name}: ${value}`, `'${name}' must be True or False`))),
  ...['structured_delegate', 'structured_inherits', 'foreach', 'python_module', 'category_override'].flatMap((name) =>
    ['1', '', '[a]', "' '"].map((value) => key(`${name}: ${value}`, `'${name}' must be a text`)),
  ),
  ...['structured_inherits', 'python_module', 'category_override'].map((name) =>
    key(`${name}: a b`, `'${name}' must be an identifier, not 'a b'`),
  ),
  ...['variants', 'autogen', 'tags', 'device_check'].flatMap((name) =>
    ['1', '', '[]', '{ a: b }', '[1]', "'a,,b'"].map((value) => key(`${name}: ${value}`, `'${name}' must be words, separated by commas`)),
  ),
  key('variants: function, function', "'variants' has 'function' twice"),
  key('variants: methods', "unknown variants 'methods', expected one of function, method"),
  key('tags: pointless', "unknown tags 'pointless'"),
  key('facts: pointless', "unknown facts 'pointless', expected one of time_dependent, "),
  key('device_check: Same', "unknown device_check 'Same', expected one of NoCheck, ExactSame"),
  key('device_check: NoCheck, ExactSame', "'device_check' must be one of NoCheck, ExactSame"),
  key('cpp_no_default_args: dim', "'cpp_no_default_args' must be a list of texts"),
  key('cpp_no_default_args: [1]', "'cpp_no_default_args' must be a list of texts"),
  key('cpp_no_default_args: [dims]', "cpp_no_default_args names no argument: 'dims'", 1),
  key('precomputed: dim -> int dim', "'precomputed' must be a list of texts"),
  key('precomputed: [dim -> int dim]', "'precomputed' belongs to structured entries", 1),
  key('structured_inherits: Base', "'structured_inherits' belongs to structured entries", 1),
  key('ufunc_inner_loop: { Generic: f }', "'ufunc_inner_loop' belongs to structured entries", 1),
  structured('precomputed: [dims -> int dim]', "'precomputed' replaces no argument: 'dims'", 1),
  structured('precomputed: [dim -> int a -> int b]', "'precomputed': a second '->' in 'dim -> int a -> int b'"),
  structured('precomputed: [dim -> int]', 'an argument name expected'),
  structured('ufunc_inner_loop: { All: f }', "unknown ufunc_inner_loop 'All', expected one of Generic, "),
  structured('ufunc_inner_loop: [f]', "'ufunc_inner_loop' must be a map"),
  structured('structured_delegate: f.out', "'structured' and 'structured_delegate' exclude each other", 1),
  // dispatch
  ...['f', '[f]', '{}', '', '1'].map((value) => key(`dispatch: ${value}`, "'dispatch' must be a map")),
  key('dispatch: { CPU: 1 }', "'dispatch': 'CPU' needs a text"),
  key('dispatch: { CPU: }', "'dispatch': 'CPU' needs a text"),
  key('dispatch: { CPU: a b }', "'CPU' needs the name of a native function"),
  key("dispatch: { CPU: 'a:b' }", "'CPU' needs the name of a native function"),
  key('dispatch: { GPU: f }', "unknown dispatch key 'GPU'"),
  key('dispatch: { constructor: f }', "unknown dispatch key 'constructor'"),
  key("dispatch: { 'CPU,': f }", "unknown dispatch key ''"),
  key("dispatch: { 'CPU, CPU': f }", "dispatch key 'CPU' is given twice"),
  ['- func: f(Tensor x) -> Tensor\n  dispatch:\n    CPU: f\n    CPU: g\n', '4: Map keys must be unique'],
  [
    '- func: f(Tensor x) -> Tensor\n  dispatch: { CUDA: f }\n',
    "1: aten::f: no backend serves the dispatch key 'CUDA', expected some of CPU, QuantizedCPU, ",
  ],
  ['- func: f(Tensor x) -> Tensor\n  dispatch: { "CPU, Meta": f }\n', "1: aten::f: no backend serves the dispatch key 'Meta'"],
  [
    '- func: f(Tensor x) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: f\n    CompositeExplicitAutograd: g\n',
    "1: aten::f: the dispatch keys 'CompositeImplicitAutograd' and 'CompositeExplicitAutograd' are both served by Composite",
  ],
  [
    '- func: f(Tensor x) -> Tensor\n  dispatch: { Builtin: f, CPU: g }\n',
    "1: aten::f: 'Builtin' serves all calls: 'CPU' would never be called",
  ],
  // structured entries and their variants
  key('structured: True', "a structured entry needs 'dispatch'", 1),
  [
    `- func: f(Tensor self) -> Tensor\n  structured: True\n  dispatch: { CPU: f }\n`,
    '1: f: a structured entry is the overload that writes its results',
  ],
  key('structured_delegate: f.out', "structured_delegate 'f.out' is not declared", 1).map((s) =>
    s.replace(': f:', ': aten::f:'),
  ) as unknown as Row,
  beside('f(Tensor self, int dim) -> Tensor', 'its arguments (Tensor self, int dim) differ from those of'),
  beside('f(Tensor self, int dim, Scalar x) -> (Tensor, Tensor)', "its results (Tensor, Tensor) differ from those of 'f.out' (Tensor)"),
  beside('f(Tensor(a) self, int dim, Scalar x) -> Tensor(a)', "the alias annotation of 'self' differs from that in 'f.out'"),
  [
    '- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n',
    "2: aten::f: structured_delegate 'f.out' is not structured (ops.yaml:1)",
  ],
  // derived operators
  ['- func: f(Tensor self) -> Tensor\n  autogen: f.copy\n', "1: aten::f: no variant is called 'f.copy', expected f.out"],
  ['- func: f(Tensor self) -> Tensor\n  autogen: g.out\n', "1: aten::f: no variant is called 'g.out', expected f.out"],
  ['- func: f(Tensor self) -> Tensor\n  autogen: f_functional\n', "1: aten::f: no variant is called 'f_functional', expected f.out"],
  ['- func: f_.x(Tensor(a!) self) -> Tensor(a!)\n  autogen: f.x, f\n', "1: aten::f_.x: no variant is called 'f', expected f.x or f.x_out"],
  [
    '- func: f(Tensor self) -> Tensor\n  autogen: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n',
    "1: aten::f: autogen 'f.out' exists already (ops.yaml:3)",
  ],
  ['- func: f(Tensor self) -> Tensor\n  autogen: f.out, f.out\n', "2: f: 'autogen' has 'f.out' twice"],
  ['- func: f(Tensor[] self) -> Tensor[]\n  foreach: g\n', "1: aten::f: 'foreach' names no declared operator: 'g'"],
  ['- func: f(Tensor self) -> Tensor\n  foreach: f\n', "1: f: 'foreach' needs a list"],
  [
    '- func: f(Tensor self) -> Tensor\n  complex: True\n',
    "1: f: 'complex' says that numbers may be complex: neither argument nor result is a Scalar",
  ],
]

const TEMPLATES: readonly Row[] = [
  ['- names: a\n  entries: [{ func: f(int x) -> int }]\n', "1: entry: 'names' must be a list"],
  ['- names: []\n  entries: [{ func: f(int x) -> int }]\n', "1: entry: 'names' must be a list"],
  ['- names: [a]\n', "1: entry: 'entries' must be a list"],
  ['- names: [a]\n  entries: []\n', "1: entry: 'entries' must be a list"],
  ['- names: [a]\n  entries: [[a]]\n', "1: entry: 'entries' must be maps"],
  ['- names: [a, a]\n  entries: [{ func: <name>(int x) -> int }]\n', "1: entry: 'names' has 'a' twice"],
  ['- names: [a]\n  entries: [{ func: <names>(int x) -> int }]\n', '1: <names>: unexpected character'],
]

/** Keys of the kernel `k`, which has a number and an address. */
const kernel = (lines: string, message: string, line = 3): Row => [
  `- kernel: k\n  fields: { n: i64, x: ptr }\n  ${lines}\n`,
  `${line}: k: ${message}`,
]
const fields = (text: string, message: string): Row => [`- kernel: k\n  fields: ${text}\n`, `2: k: ${message}`]

const KERNELS: readonly Row[] = [
  ['- kernel: 1\n', "1: entry: expected 'kernel: name' or 'enum: Name'"],
  ['- kernel: a b\n', "1: a b: expected 'kernel: name' or 'enum: Name'"],
  ['- kernel: delete\n', '1: delete: this name means something else in C++ or TypeScript'],
  ['- kernel: launch\n', '1: launch: this name means something else in C++ or TypeScript'],
  ['- kernel: k\n- kernel: k\n', '2: k: declared twice; the other declaration is at ops.yaml:1'],
  ['- kernel: k\n- enum: k\n  values: [a]\n', '1: k: an enum has this name, too, at ops.yaml:2'],
  ['- kernel: k\n  kernel: j\n', '2: Map keys must be unique'],
  ['- kernel: k\n  func: f(int x) -> int\n', '2: f: an operator among declarations of kernels'],
  kernel('field: 1', "unknown key 'field'"),
  kernel('constructor: 1', "unknown key 'constructor'"),
  ...'doc vectorized host random total effect option in_place extends results extents require flops'
    .split(' ')
    .map((name) => kernel(`${name}:`, `'${name}' has no value`)),
  ...['vectorized', 'random', 'total'].flatMap((name) =>
    ['1', "'yes'"].map((value) => kernel(`${name}: ${value}`, `'${name}' must be true or false`)),
  ),
  ...['1', "'yes'", 'inout'].map((value) => kernel(`host: ${value}`, "'host' must be in, out, in-out, not '")),
  ...['1', 'none'].map((value) => kernel(`effect: ${value}`, "'effect' must be allocation, process, not '")),
  ...['1', 'fast'].map((value) => kernel(`option: ${value}`, "'option' must be winograd, not '")),
  ...['1', "' '"].map((value) => kernel(`doc: ${value}`, "'doc' must be a text")),
  kernel("doc: 'a */ b'", "'doc' stands in a comment"),
  kernel("doc: 'a \\'", "'doc' stands in a comment"),
  // fields
  ...['n', '[n]', '1'].map((value) => fields(value, "'fields' must be a map of names to types")),
  fields('{ n: 1 }', "'n' needs the name of a type"),
  fields('{ n: [i64] }', "'n' needs the name of a type"),
  fields('{ n: }', "'n' needs the name of a type"),
  fields('{ n: i16 }', "'n' has unknown type 'i16'"),
  fields('{ n: constructor }', "'n' has unknown type 'constructor'"),
  fields("{ n: 'i64[' }", "'n' has no type of frames"),
  fields("{ n: 'i64[0]' }", "'n' has no elements"),
  fields("{ n: 'i64[4096]' }".replace('4096', '600'), 'its frame has').map((s) => s.replace('2: k', '1: k')) as unknown as Row,
  fields('{ 1n: i64 }', "'1n' is no name or used twice"),
  fields('{ header: i64 }', "'header' is no name or used twice"),
  fields('{ class: i64 }', "'class' is a word of C++"),
  ['- kernel: k\n  fields:\n    n: i64\n    n: i64\n', '4: Map keys must be unique'],
  kernel('results: { n: i64 }', "'n' is no name or used twice"),
  kernel("results: { r: 'i64[2]' }", "result 'r' cannot be an array", 1),
  ['- kernel: k\n  fields: { host: ptr }\n  host: true\n', "1: k: 'host' is the JavaScript memory of this kernel"],
  // extents, conditions, operations
  ...['n', '[n]'].map((value) => kernel(`extents: ${value}`, "'extents' must be a map of names to expressions")),
  kernel('extents: { x: n, y: n }', 'y is no address of the frame'),
  kernel('extents: {}', 'no extent for x'),
  kernel('extents: { x: n, x?: n }', "two extents for 'x'"),
  kernel('extents: { x: m * 4 }', "extents: no field 'm'"),
  kernel('extents: { x: [n] }', "'extents' needs expressions"),
  kernel('extents: { x: true }', "'extents' needs expressions"),
  kernel("extents: { x: '' }", 'extents: a number or name was expected'),
  kernel('extents: { x: n * }', 'extents: a number or name was expected'),
  kernel('extents: { x: n 4 }', "extents: '4' was not expected"),
  kernel('extents: { x: grow(n) }', "extents: no function 'grow'"),
  kernel('extents: { x: constructor(n) }', "extents: no function 'constructor'"),
  kernel("extents: { x: 'n[0]' }", "extents: 'n' is no array"),
  kernel('require: n > 0', "'require' must be a list of conditions"),
  kernel("require: ['n >']", 'require: a number or name was expected'),
  kernel("require: ['m > 0']", "require: no field 'm'"),
  kernel("require: ['n = 0']", "require: '= 0' cannot be read"),
  kernel('require: [[n]]', "'require' needs expressions"),
  kernel('flops: [n]', "'flops' needs expressions"),
  kernel('flops: m', "flops: no field 'm'"),
  // other kernels and enums
  kernel('extends: j', "'extends' must name a kernel without results that extends none"),
  kernel('extends: [k]', "'extends' must name a kernel without results that extends none"),
  kernel('extends: k', "'extends' must name a kernel without results that extends none"),
  // mixins
  ['- mixin: m\n', '1: m: a mixin needs a name and a suffix'],
  ['- mixin: M\n  suffix: m\n', '1: M: a mixin needs a name and a suffix'],
  ['- mixin: m\n  suffix: [m]\n', '1: m: a mixin needs a name and a suffix'],
  ['- mixin: m\n  suffix: s\n  flops: 1\n', "3: m: unknown key 'flops'"],
  ['- mixin: m\n  suffix: s\n  parameters: a\n', "1: m: 'parameters' must be a list of names"],
  ['- mixin: m\n  suffix: s\n  parameters: [1]\n', "1: m: 'parameters' must be a list of names"],
  ['- mixin: m\n  suffix: s\n  parameters: [a, a]\n', '1: m: a parameter is listed twice'],
  ['- mixin: m\n  suffix: s\n- mixin: m\n  suffix: s\n', '3: m: declared twice; the other declaration is at ops.yaml:1'],
  kernel('mixins: m', "'mixins' must be a map of mixins to their parameters"),
  kernel('mixins:', "'mixins' must be a map of mixins to their parameters"),
  kernel('mixins: { m: { a: 1 } }', "no mixin 'm'"),
  ['- mixin: m\n  suffix: s\n  parameters: [a]\n- kernel: k\n  mixins: { m: }\n', "5: k: m takes a, each an expression: see 'a'"],
  ['- mixin: m\n  suffix: s\n- kernel: k\n  mixins: { m: { b: 1 } }\n', "4: k: m takes no parameters: see 'b'"],
  [
    '- mixin: m\n  suffix: s\n- kernel: k\n  mixins: { m: }\n- kernel: k_s\n',
    '5: k_s: declared twice; the other declaration is at ops.yaml:1',
  ],
  [
    '- mixin: m\n  suffix: s\n  fields: { n: i64 }\n- kernel: k\n  fields: { n: i64 }\n  mixins: { m: }\n',
    "3: k_s: 'n' is no name or used twice",
  ],
  ['- enum: 1\n  values: [a]\n', '1: 1: an enum needs a name and a list of values'],
  ['- enum: E\n', '1: E: an enum needs a name and a list of values'],
  ['- enum: E\n  values: a\n', '1: E: an enum needs a name and a list of values'],
  ['- enum: E\n  values: []\n', '1: E: an enum needs a name and a list of values'],
  ['- enum: E\n  values: [a, a]\n', '1: E: a value is listed twice'],
  ['- enum: E\n  values: [true]\n', "1: E: 'true, which is no text,' is no identifier"],
  ['- enum: E\n  values: [a b]\n', "1: E: 'a b' is no identifier"],
  ['- enum: E\n  values: [a]\n  fields: 1\n', "3: E: unknown key 'fields'"],
  ['- enum: E\n  values: [a]\n  doc: 1\n', "3: E: 'doc' must be a text"],
  ['- enum: i32\n  values: [a]\n', '1: i32: this name means something else in C++ or TypeScript'],
  ['- enum: class\n  values: [a]\n', '1: class: this name means something else in C++ or TypeScript'],
  [
    '- enum: E\n  values: [a]\n- enum: E\n  values: [b]\n',
    '3: E: declared twice with other values; the other declaration is at ops.yaml:1',
  ],
  ['- kernel: k\n  fields: { e: E }\n', "2: k: 'e' has unknown type 'E', expected ptr, i64, f64, i32, f32 or an enum"],
]

/** Mistakes in facts that the compiler goes by: those of a kernel with an output `y` and operands `x` and `z`, and what the library has to say. */
const operands = (line: string, message: string): Row => [
  `- kernel: k\n  fields: { ndim: i32, y_dtype: i32, x_dtype: i32, y: out ptr, x: in ptr, z: in ptr }\n  ${line}\n`,
  `3: k: ${message}`,
]
const FACTS: readonly Row[] = [
  fields('{ x: ptr }', "'x' has no access: expected 'in ptr', 'out ptr' or 'in-out ptr'"),
  fields('{ y: out ptr, x: "ptr[3]" }', "'x' has no access: expected 'in ptr[3]', 'out ptr[3]' or 'in-out ptr[3]'"),
  fields('{ x: read ptr }', "'x' has no type of frames: 'read ptr'"),
  fields('{ n: in i64 }', "'n' is no address that is given: it has no access"),
  ['- kernel: k\n  results: { x: out ptr }\n', "2: k: 'x' is no address that is given: it has no access"],
  ['- kernel: a\n  fields: { x: ptr }\n- kernel: k\n  extends: a\n  fields: { y: out ptr }\n', "2: a: 'x' has no access"],
  ['- kernel: k\n  fields: { y: out ptr }\n  host: true\n', "3: k: 'host' has no access: expected in, out or in-out"],
  ['- kernel: k\n  fields: { n: i64, x: in ptr }\n', "1: k: it writes nothing and returns nothing: 'effect' is missing"],
  ['- kernel: k\n  fields: { n: i64 }\n  host: in\n', "1: k: it writes nothing and returns nothing: 'effect' is missing"],
  [
    '- kernel: k\n  fields: { x: in ptr }\n  random: true\n  results: { n: i64 }\n',
    '3: k: what is random moves a generator on: none of its addresses is written',
  ],
  operands('in_place: x', "'in_place' must be a map of operands to conditions"),
  operands('in_place: { x: sometimes }', "'in_place' must be always, dense, not 'sometimes'"),
  operands('in_place: { y: always }', "'in_place': 'y' is no address that is only read"),
  operands('in_place: { w: always }', "'in_place': 'w' is no address that is only read"),
  operands('in_place: { z: dense }', "'in_place': dense operands need a field 'z_dtype'"),
  [
    '- kernel: k\n  fields: { x: in ptr, y: out ptr, z: out ptr }\n  in_place: { x: always }\n',
    "3: k: 'in_place' needs a kernel with one output",
  ],
  ['- limit: most\n  value: 1\n  doc: x\n', '1: most: a limit needs a name in capitals'],
  ['- limit: MOST\n  value: many\n  doc: x\n', "1: MOST: 'value' must be an integer from 0 to 65535"],
  ['- limit: MOST\n  value: 1\n', "1: MOST: 'doc' must be a line of text"],
  ['- limit: MOST\n  value: 1\n  doc: x\n  max: 3\n', "4: MOST: unknown key 'max'"],
  ['- limit: MOST\n  value: 1\n  doc: x\n- status: MOST\n  value: 2\n  doc: x\n', '4: MOST: its name or value is taken at ops.yaml:1'],
  ['- status: A\n  value: 1\n  doc: x\n- status: B\n  value: 1\n  doc: x\n', '4: B: its name or value is taken at ops.yaml:1'],
  fields('{ y: "out ptr[MOST]" }', "'y' has an unknown limit: 'MOST'"),
  fields('{ y: out ptr }\n  require: [MOST > 1]', "require: no field 'MOST'").map((text) => text.replace(/^2/, '3')) as unknown as Row,
]

function refused(t: Test, run: () => unknown, [yaml, message]: Row): void {
  try {
    run()
    t.fail(`taken in silence: ${yaml}`)
  } catch (error) {
    const found = error as Error
    t.equal(found.name, 'CodegenError', yaml)
    t.ok(found.message.startsWith(`ops.yaml:${message}`), `${found.message} starts with ops.yaml:${message}`)
  }
}

function declare(yaml: string): void {
  const natives = expandTemplates(parseEntries(yaml, 'ops.yaml')).map(parseEntry)
  checkDispatch(natives)
  resolveOperators(natives)
}

function custom(yaml: string): void {
  writeFileSync('ops.yaml', yaml)
  generateCustom({ paths: ['ops.yaml'], natives: './natives.js', known: () => undefined })
}

await t.test('operators', (t) => {
  for (const row of [...OPERATORS, ...TEMPLATES]) refused(t, () => declare(row[0]), row)
  t.end()
})

await t.test('kernels', (t) => {
  for (const row of KERNELS) refused(t, () => parseKernels(parseEntries(row[0], 'ops.yaml')), row)
  t.end()
})

await t.test('facts that are missing or unknown', (t) => {
  const silent = '- func: f(Tensor self) -> ()\n  dispatch:\n    CPU: f\n'
  const operators = (yaml: string): Operator[] => resolveOperators(parseEntries(yaml, 'ops.yaml').map(parseEntry))
  const message = "1: aten::f: it returns nothing and writes to nothing: expected 'side_effect' or 'no_effect' among its 'facts'"
  refused(t, () => checkFacts(operators(silent)), [silent, message])
  checkFacts(operators(`${silent}  facts: no_effect\n`))
  checkFacts(operators(silent.replace('Tensor self', 'Tensor(a!) self')))
  for (const row of FACTS) refused(t, () => parseKernels(parseEntries(row[0], 'ops.yaml'), true), row)
  t.end()
})

await t.test('operators and kernels of users', (t) => {
  process.chdir(t.testdir({}))
  t.teardown(() => process.chdir(root))
  for (const row of [...OPERATORS, ...KERNELS]) refused(t, () => custom(row[0]), row)
  t.end()
})
