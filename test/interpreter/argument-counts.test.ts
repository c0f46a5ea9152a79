import { readdirSync } from 'node:fs'
import t from 'tap'
import { PtliteError } from '../../runtime/error.js'
import type { FunctionCode } from '../../program/code.js'
import { linkFunctions } from '../../program/link.js'
import type { LinkedFunction } from '../../program/linked.js'
import { earlierCounts } from '../../runtime/operators/table/generated/argument-history.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { loadModelFile } from '../../formats/read.js'
import { ANY_KIND, Kind, kindOfValue, kindsOfSchemaType, kindsOfTypeText } from '../../program/value-kinds.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { empty } from '../../runtime/tensor/tensor.js'
import { Device, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import { generator } from '../ahead/support.js'
import { fixturePath } from '../module/fixtures.js'
import { assemble, type Assembly } from './assemble.js'

/** Operators of a function by name, with the number of arguments where the file says it. */
type Source = Omit<Assembly, 'operators'> & { readonly operators: readonly string[]; readonly args?: readonly string[] }

function codeOf({ operators, args, ...assembly }: Source): FunctionCode {
  const { source } = assemble(assembly)
  return {
    ...source,
    operators: operators.map((text) => {
      const [qualified, count = '-1'] = text.split(' ') as [string, string?]
      const [name, overload = ''] = qualified.split('.') as [string, string?]
      return { name, overload, argCount: Number(count) }
    }),
    schema:
      args === undefined
        ? null
        : { args: ['Any', ...args].map((type, i) => ({ name: `a${i}`, type, default: undefined })), returns: [{ type: 'Any' }] },
  }
}

const link = (...codes: FunctionCode[]): readonly LinkedFunction[] => linkFunctions(codes, 10, new Map())

/** The numbers of arguments that the operators of functions turn out to have. */
function counts(...sources: Source[]): number[][] {
  return link(...sources.map(codeOf)).map((fn) => fn.operators.map((operator) => operator.given))
}

function refused(...sources: Source[]): string {
  try {
    counts(...sources)
  } catch (error) {
    if (error instanceof PtliteError && error.code === 'UNSUPPORTED_FILE') return error.message
    throw error
  }
  throw new Error('expected to be refused')
}

const ENTRY = 'STOREN 1 2\nDROPR 1'

t.test('operators that gained arguments', (t) => {
  const gelu = { operators: ['aten::gelu'], constants: ['tanh'], args: ['Tensor'] }
  t.same(counts({ ...gelu, code: `${ENTRY}\nLOAD 2\nOP 0\nRET` }), [[1]])
  t.same(counts({ ...gelu, code: `${ENTRY}\nLOAD 2\nLOADC 0\nOP 0\nRET` }), [[2]])
  const einsum = { operators: ['aten::einsum', 'aten::gelu'], constants: ['ij,kj->ik', null], types: ['List[Tensor]'], args: ['Tensor'] }
  const tensors = 'LOAD 2\nOP 1\nLOAD 2\nLIST_CONSTRUCT 0 2'
  t.same(counts({ ...einsum, code: `${ENTRY}\nLOADC 0\n${tensors}\nOP 0\nRET` }), [[2, 1]])
  t.same(counts({ ...einsum, code: `${ENTRY}\nLOADC 0\n${tensors}\nLOADC 1\nOP 0\nRET` }), [[3, 1]])
  const [fn] = link(codeOf({ ...einsum, code: `${ENTRY}\nLOADC 0\n${tensors}\nOP 0\nRET` }))
  t.same(
    fn!.operators.map(({ defaults }) => defaults),
    [[null], ['none']],
  )
  t.end()
})

t.test('an argument that came without a default has a value of its own', (t) => {
  const load = [
    'LOAD 2',
    'LOAD 2',
    'LOADC 0',
    'LOADC 1',
    'LOADC 1',
    'LOADC 1',
    'LOADC 2',
    'LOADC 1',
    'LOADC 3',
    'LOADC 2',
    'LOADC 2',
    'LOADC 2',
  ]
  const source = { operators: ['aten::_convolution'], constants: [null, [1], false, 1], args: ['Tensor'] }
  const [fn] = link(codeOf({ ...source, code: `${ENTRY}\n${load.join('\n')}\nOP 0\nRET` }))
  t.match(fn!.operators[0], { given: 12, defaults: [true] })
  t.end()
})

t.test('out arguments stay behind the missing ones', (t) => {
  const source = { operators: ['aten::gelu.out'], args: ['Tensor', 'Tensor'], registers: 3 }
  const [fn] = link(codeOf({ ...source, code: 'STOREN 1 3\nLOAD 2\nLOAD 3\nOP 0\nRET' }))
  t.match(fn!.operators[0], { given: 2, outs: 1, defaults: ['none'] })
  t.end()
})

t.test('all calls of an operator in a file give the same number', (t) => {
  const one = { operators: ['aten::gelu', 'aten::add.Tensor'], constants: [1, 'none'], args: ['Any'] }
  const sum = `${ENTRY}\nLOAD 2\nLOAD 2\nOP 0\nLOADC 0\nOP 1\nRET`
  const other = `${ENTRY}\nLOAD 2\nLOADC 1\nOP 0\nRET`
  t.same(counts({ ...one, code: sum }), [[1, 3]])
  t.same(counts({ ...one, code: sum }, { ...one, name: '__torch__.M.other', code: other.replace('LOADC 1\n', '') })[1], [1, 3])
  // neither number serves both: today's stays, for the verifier to refuse
  t.same(counts({ ...one, code: sum }, { ...one, name: '__torch__.M.other', code: other })[0], [2, 3])
  t.end()
})

t.test('paths that meet, loops, and errors', (t) => {
  const source = {
    operators: ['aten::gelu', 'aten::mul.Tensor', 'prim::RaiseException'],
    constants: [true, 3, 0, 'no'],
    args: ['Tensor'],
    registers: 3,
  }
  const branch = `${ENTRY}\nLOAD 2\nLOADC 0\nJF 4\nLOAD 2\nOP 0\nJMP 3\nLOADC 3\nOP 2\nOP 1\nRET`
  t.same(counts({ ...source, code: branch }), [[1, 2, 1]])
  const loop = `${ENTRY}\nLOADC 2\nLOADC 1\nLOADC 0\nLOAD 2\nLOOP 9 3\nSTORE 3\nDROP\nLOADC 0\nLOAD 3\nOP 0\nLOAD 2\nOP 1\nJMP -8\nRET`
  t.same(counts({ ...source, code: loop }), [[1, 2, 1]])
  t.end()
})

t.test('any number that the schema can complete, where the known ones do not fit', (t) => {
  const source = { operators: ['aten::add.Tensor', 'aten::softmax.int'], constants: [-1], args: ['Tensor'] }
  t.same(counts({ ...source, code: `${ENTRY}\nLOAD 2\nLOAD 2\nLOADC 0\nOP 1\nOP 0\nRET` }), [[2, 2]])
  // what meant something else is none of them: (self, dtype) of aten::nansum is (self, dim) now
  const nansum = { operators: ['aten::nansum'], constants: [6], args: ['Tensor'] }
  t.same(counts({ ...nansum, code: `${ENTRY}\nLOAD 2\nLOADC 0\nOP 0\nRET` }), [[4]])
  t.end()
})

t.test('code that can be read in two ways is refused', (t) => {
  const source = { operators: ['aten::special_round', 'prim::unchecked_cast', 'aten::gelu'], args: ['Any', 'Any'], registers: 3 }
  const code = 'STOREN 1 3\nLOAD 2\nLOAD 3\nOP 0\nOP 1\nOP 2\nRET'
  // special_round(a, decimals=b), or special_round(b) as the second argument of gelu
  t.match(refused({ ...source, code }), /read in several ways, of calls of aten::special_round \(2 or 1\), aten::gelu \(1 or 2\); export/)
  t.same(counts({ ...source, args: ['Tensor', 'int'], code }), [[2, 1, 1]])
  t.end()
})

t.test('a number that the file says is the one', (t) => {
  const source = { operators: ['aten::gelu 1', 'aten::einsum'], constants: ['i->i', null], types: ['List[Tensor]'], args: ['Tensor'] }
  t.same(counts({ ...source, code: `${ENTRY}\nLOADC 0\nLOAD 2\nOP 0\nLIST_CONSTRUCT 0 1\nOP 1\nRET` }), [[1, 2]])
  t.end()
})

t.test('code that fits nowhere is left to the verifier', (t) => {
  const source = { operators: ['aten::gelu', 'aten::relu'], args: ['Tensor'] }
  for (const code of [
    'OP 0',
    'OP 7\nRET',
    'LOADC 99\nOP 0\nRET',
    'JMP -5',
    'JMP 99',
    'LOOP -1 0',
    'LIST_UNPACK 2000000000\nRET',
    'LIST_UNPACK -1\nRET',
    'DROP',
    'CALL 5\nRET',
    'STOREN 1 65535\nRET',
    'TUPLE_CONSTRUCT -3\nRET',
    `${ENTRY}\nLOAD 2\nRET\nOP 0`,
  ])
    t.same(counts({ ...source, code }), [[2, 1]], code)
  t.end()
})

t.test('too many ways to read a file are refused in time', (t) => {
  // each call fits in two ways wherever it stands, and the end fits none
  const names = ['special_round', 'gelu', 'linalg_cholesky', 'linalg_svdvals', 'to_dense', 'is_pinned', 'pin_memory', 'smooth_l1_loss', 'index_add', 'quantile', 'nanquantile', 'einsum', 'searchsorted.Tensor', 'stft', 'istft', 'cross_entropy_loss'] // prettier-ignore
  const operators = names.map((name) => `aten::${name}`)
  const args = new Array<string>(40).fill('Any')
  const loads = args.map((_, i) => `LOAD ${i + 2}`).join('\n')
  const spread = new Array<string>(2000).fill('LOAD 2\nDROP').join('\n')
  const code = `STOREN 1 41\n${loads}\n${spread}\n${operators.map((_, i) => `OP ${i}\n${loads}`).join('\n')}\nRET`
  const start = performance.now()
  t.match(refused({ code, operators, args, registers: 41 }), /read in several ways, of calls of aten::special_round, /)
  t.ok(performance.now() - start < 5000)
  t.end()
})

t.test('numbers that newer files say are found without them', (t) => {
  let operators = 0
  for (const folder of ['', 'models']) {
    for (const name of readdirSync(fixturePath(folder)).filter((file) => /\.(ptl|ff)$/.test(file))) {
      const file = loadModelFile(`${fixturePath(folder)}/${name}`)
      if (file.bytecodeVersion >= 6) {
        for (const code of file.functions) {
          const said = linkFunctions([code], file.operatorVersion, new Map())[0]!
          const bare = { ...code, operators: code.operators.map((operator) => ({ ...operator, argCount: -1 })) }
          const found = linkFunctions([bare], file.operatorVersion, new Map())[0]!
          found.operators.forEach((operator, i) => {
            if (operator.qualifiedName === 'prim::RaiseException') return
            t.equal(operator.given, said.operators[i]!.given, `${name}, ${code.name}, ${operator.qualifiedName}`)
            operators++
          })
        }
      }
      file.close()
    }
  }
  t.ok(operators > 300, `${operators} operators`)
  t.end()
})

const POOL = [
  ...[
    'gelu',
    'index_add',
    'smooth_l1_loss',
    'searchsorted.Tensor',
    'quantile.scalar',
    'repeat_interleave.self_int',
    'linalg_cholesky',
    'einsum',
  ],
  ...[
    'special_round',
    'cross_entropy_loss',
    '_convolution',
    'istft',
    'to_dense',
    'add.Tensor',
    'mul.Tensor',
    'relu',
    'softmax.int',
    'stack',
  ],
].map((name) => `aten::${name}`)

/** A random expression of calls inside calls, as code of bytecode version 5, and how many arguments each operator has in it. */
function randomProgram(random: () => number): { readonly source: Source; readonly numbers: number[] } {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
  const operators = [...new Set(Array.from({ length: 2 + random() * 4 }, () => pick(POOL)))]
  const schemas = operators.map((name) => findOperator(name)!.schema)
  const numbers = operators.map((name, i) => pick([schemas[i]!.arguments.length, ...(earlierCounts[name] ?? [])]))
  const constants: Value[] = [null, 1, new Float(0.5), true, 'none', [1]]
  const code: string[] = []
  const load = (): void => {
    code.push(`LOAD ${2 + Math.floor(random() * 2)}`)
  }
  const call = (depth: number): void => {
    if (depth === 0) return load()
    const operator = Math.floor(random() * operators.length)
    for (const { type } of schemas[operator]!.arguments.slice(0, numbers[operator])) argument(type, depth - 1)
    code.push(`OP ${operator}`)
  }
  const argument = (type: string, depth: number): void => {
    if (type === 'Tensor') return call(Math.floor(random() * (depth + 1)))
    if (type === 'Tensor[]') {
      call(depth)
      load()
      code.push('LIST_CONSTRUCT 0 2')
      return
    }
    const values = { int: 1, SymInt: 1, ScalarType: 1, Scalar: pick([1, 2]), float: 2, bool: 3, str: 4, 'int[]': 5, 'SymInt[]': 5 }
    const plain = type.replace('?', '').replace(/\[\d\]/, '[]')
    code.push(`LOADC ${type.endsWith('?') && random() < 0.6 ? 0 : (values[plain as keyof typeof values] ?? 0)}`)
  }
  call(3)
  const source = {
    operators,
    constants,
    types: ['List[Tensor]'],
    args: pick([
      ['Tensor', 'Tensor'],
      ['Any', 'Tensor'],
    ]),
    registers: 3,
  }
  return { source: { ...source, code: `STOREN 1 3\n${code.join('\n')}\nRET` }, numbers }
}

t.test('random programs: the numbers that they were written with, or none', (t) => {
  const random = generator(5)
  let refusals = 0
  let shorter = 0
  for (let i = 0; i < 1000; i++) {
    const { source, numbers } = randomProgram(random)
    const reached = source.operators.map((_, k) => new RegExp(`^OP ${k}$`, 'm').test(source.code))
    try {
      const [found] = counts(source)
      if (numbers.some((n, k) => n < findOperator(source.operators[k]!)!.schema.arguments.length)) shorter++
      const wrong = numbers.filter((n, k) => reached[k] === true && found![k] !== n)
      if (wrong.length > 0) t.fail(`${source.operators.join()} ${numbers.join()} instead of ${found!.join()}:\n${source.code}`)
    } catch (error) {
      t.match(error, { code: 'UNSUPPORTED_FILE' })
      refusals++
    }
  }
  t.ok(refusals < 50 && shorter > 500, `${refusals} are refused, ${shorter} have fewer arguments than today`)
  t.end()
})

t.test('kinds of values, and of types as schemas and files write them', (t) => {
  const x = empty([1], DType.float32)
  const list = Kind.tensors | Kind.numbers | Kind.others
  const values: readonly (readonly [Value, number])[] = [
    [null, Kind.none],
    [true, Kind.bool],
    [1, Kind.int],
    [2n ** 60n, Kind.int],
    [new Float(1), Kind.float],
    [new Complex(1, 2), Kind.complex],
    ['a', Kind.str],
    [x, Kind.tensor],
    [[x, null], Kind.tensors],
    [[1, new Float(1)], Kind.numbers],
    [[[1]], Kind.others],
    [['a'], Kind.others],
    [[], list],
    [[null], list],
    [new Tuple([]), Kind.tuple],
    [new Map(), Kind.dict],
    [new Device('cpu'), Kind.device],
    [new ScriptObject('M', [], []), Kind.object],
  ]
  for (const [value, kind] of values) t.equal(kindOfValue(value), kind, String(value))
  const schemaTypes = {
    'Tensor?': Kind.tensor | Kind.none,
    'Tensor?[]': Kind.tensors | Kind.tuple,
    'int[2]': Kind.numbers | Kind.tuple | Kind.int,
    'int[]?': Kind.numbers | Kind.tuple | Kind.none,
    'str[]': Kind.others | Kind.tuple,
    't[]': list | Kind.tuple,
    'Dict(str, t)': Kind.dict,
    '(int, str)': Kind.tuple,
    '__torch__.torch.classes.quantized.LinearPackedParamsBase': Kind.object,
    float: Kind.int | Kind.float,
    complex: Kind.int | Kind.float | Kind.complex,
    Scalar: Kind.bool | Kind.int | Kind.float | Kind.complex,
    Any: ANY_KIND,
    t: ANY_KIND,
  }
  for (const [type, kinds] of Object.entries(schemaTypes)) t.equal(kindsOfSchemaType(type), kinds, type)
  const typeTexts = {
    'Optional[List[Optional[Tensor]]]': Kind.tensors | Kind.none,
    'List[int]': Kind.numbers,
    'List[Tuple[int, int]]': list,
    'Dict[str, int]': Kind.dict,
    'Tuple[int, int]': Kind.tuple,
    '__torch__.Net': ANY_KIND,
  }
  for (const [type, kinds] of Object.entries(typeTexts)) t.equal(kindsOfTypeText(type), kinds, type)
  t.end()
})
