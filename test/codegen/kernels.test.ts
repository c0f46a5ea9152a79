import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { emitExtents } from '../../codegen/emit/extents.js'
import { emitKernelLayouts } from '../../codegen/emit/kernel-layouts.js'
import { emitKernelNumbers } from '../../codegen/emit/kernel-numbers.js'
import { emitKernelHeaders, emitStatusHeader } from '../../codegen/emit/kernels-header.js'
import { emitKernelsTs } from '../../codegen/emit/kernels-ts.js'
import { abiHash } from '../../codegen/kernel-abi/hash.js'
import type { Kernel } from '../../codegen/kernel-abi/model.js'
import { parseKernels } from '../../codegen/kernel-abi/parse.js'
import { everything, type Selector } from '../../codegen/options.js'
import { parseEntries } from '../../codegen/yaml-file.js'
import { root } from './support/compile.js'
import { functionText } from './support/declare.js'

const yaml = `
- enum: Kind
  values: [small, large]
- kernel: scale
  doc: out = in * factor
  fields: { kind: Kind, ndim: i32, sizes: 'i64[3]', flag: i32, out: ptr, factor: f64, small: f32, ks: 'i32[2]' }
  results: { count: i64, peak: f32 }
- kernel: load
  doc: reads
  results: { address: ptr }
  host: true
`
const parse = (text: string) => parseKernels(parseEntries(text, 'k.yaml'))
const abi = parse(yaml)
const part: Selector = { ...everything, dtypes: new Set([4, 6]), values: () => new Set(['large']) }

await t.test('members stand at their natural alignment, after the header', (t) => {
  const scale = abi.kernels.find((k) => k.name === 'scale')!
  t.same(
    [...scale.fields, ...scale.results].map((f) => [f.name, f.offset]),
    [
      ['kind', 16],
      ['ndim', 20],
      ['sizes', 24],
      ['flag', 48],
      ['out', 56],
      ['factor', 64],
      ['small', 72],
      ['ks', 76],
      ['count', 88],
      ['peak', 96],
    ],
  )
  t.equal(scale.size, 104)
  t.end()
})

await t.test('a kernel with a mixin is there without it and with it', (t) => {
  const { kernels } = parse(`
- kernel: scale
  doc: out = in * factor
  vectorized: true
  mixins: { steps: { rows: n, stride: 2 } }
  fields: { n: i64, in: ptr }
  extents: { in: n * 4 }
  flops: n
- mixin: steps
  suffix: post
  parameters: [rows, stride]
  doc: with steps.
  fields: { steps: i32, at: 'ptr[2]' }
  extents: { at: 'each < steps ? $rows * $stride : 0' }
  require: ['steps <= 2', '$rows > 0']
`)
  t.strictSame(
    kernels.map(({ name }) => name),
    ['scale', 'scale_post'],
  )
  const [plain, post] = kernels as [Kernel, Kernel]
  t.strictSame(
    plain.fields.map((f) => f.name),
    ['n', 'in'],
  )
  t.strictSame(post.fields.slice(0, 2), plain.fields, 'the one frame starts as the other')
  t.strictSame(
    post.fields.slice(2).map((f) => f.name),
    ['steps', 'at'],
  )
  t.strictSame(
    [...post.extents!].map(([name, { bytes }]) => [name, bytes]),
    [
      ['in', 'n * 4'],
      ['at', 'each < steps ? n * 2 : 0'],
    ],
  )
  t.strictSame([post.require, post.flops, post.vectorized, post.doc], [['steps <= 2', 'n > 0'], 'n', true, 'Kernel scale with steps.'])
  t.strictSame(post.variant, { of: 'scale', suffix: 'post' })
  const both = { enums: [], numbers: [], kernels }
  const text = emitKernelsTs(both, [], everything)
  t.match(
    text,
    /export function scale\(args: \{\n  n: number\n  in: number\n\}, post: \{\n  steps: number\n  at: readonly number\[\]\n\} \| null = null\): void/,
  )
  t.match(text, /if \(post !== null\) \{\n(?:    .*\n)+    launch\(1, 'scale_post'\)\n    return\n  \}\n  launch\(0, 'scale'\)/)
  t.notOk(text.includes('function scale_post'), 'one function starts both')
  t.match(
    emitKernelsTs({ ...both, kernels: [plain] }, [post], everything),
    /absentKernel\('scale_post'\)\n    return\n  \}\n  launch\(0, 'scale'\)/,
  )
  t.match(
    emitKernelsTs({ ...both, kernels: [post] }, [plain], everything),
    /launch\(0, 'scale_post'\)\n    return\n  \}\n  absentKernel\('scale'\)/,
  )
  t.end()
})

await t.test('frame writers', (t) => {
  const text = emitKernelsTs(abi, [], everything)
  t.equal(
    functionText(text, 'scale').slice(functionText(text, 'scale').indexOf('})')),
    `}): { count: number, peak: number } {
  i32[4] = args.kind
  i32[5] = args.ndim
  putI64s(6, args.sizes, 3)
  i32[12] = args.flag
  putI64(14, args.out)
  f64[8] = args.factor
  f32[18] = args.small
  putI32s(19, args.ks, 2)
  launch(1, 'scale')
  return { count: getI64(22), peak: f32[24]! }
}`,
  )
  t.match(functionText(text, 'load'), "launch(0, 'load', host)\n  return getI64(4)")
  t.match(text, 'export const Kind = { small: 0, large: 1 } as const')
  t.end()
})

await t.test('facts reach the layouts, and limits and statuses both languages', (t) => {
  const declared = parseKernels(
    parseEntries(
      `
- limit: MOST
  value: 3
  doc: inputs of a call
- status: LATE
  value: 12
  doc: it took too long
- kernel: draw
  random: true
  total: true
  fields: { state: in-out ptr, in: 'in ptr[MOST]', y_dtype: i32, x_dtype: i32, ndim: i32, x: in ptr }
  results: { at: ptr }
- kernel: give
  effect: allocation
  host: in
- kernel: join
  option: winograd
  in_place: { x: dense, z: always }
  fields: { y: out ptr, x: in ptr, z: in ptr, ndim: i32, x_dtype: i32, y_dtype: i32 }
  extents: { y: MOST * 8, x: 8, z: 8 }
`,
      'k.yaml',
    ),
    true,
  )
  t.match(
    emitKernelLayouts(declared),
    `\`draw!RT state:x in:r3 y_dtype:i x_dtype:i ndim:i x:r > at:p
give!rA
join!:winograd y:w x:D z:R ndim:i x_dtype:i y_dtype:i
\``,
  )
  t.match(emitKernelNumbers(declared), 'export const Limit = {\n  /** inputs of a call */\n  MOST: 3,\n} as const')
  t.match(emitKernelNumbers(declared), 'export const Status = {\n  /** it took too long */\n  LATE: 12,\n} as const')
  t.match(emitKernelHeaders(declared, [], everything).get('frames/k.h'), 'constexpr int32_t PTLITE_MOST = 3;')
  t.match(emitStatusHeader(declared), 'enum {\n  PTLITE_LATE = 12,  // it took too long\n};')
  t.match(emitExtents(declared), "'y': () => 3 * 8")
  t.end()
})

await t.test('the header compiles: C++ lays the frames out alike', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-header-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const flags = '-std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++'.split(' ')
  for (const selector of [everything, part]) {
    for (const [name, text] of emitKernelHeaders(abi, [], selector)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const args = [...flags, '-I', join(root, 'kernels/include'), '-I', folder, '-include', join(folder, 'frames/k.h'), '/dev/null']
    const { status, stderr, error } = spawnSync('g++', args, { encoding: 'utf8' })
    if (error === undefined) t.equal(status, 0, stderr)
    else t.pass('no g++ here')
  }
  t.end()
})

await t.test('headers say what a selective build holds', (t) => {
  const full = emitKernelHeaders(abi, [], everything)
  t.match(full.get('selection.h'), 'ptlite_holds(ptlite_dtype) { return true; }')
  t.match(full.get('frames/k.h'), 'ptlite_holds(Kind) { return true; }')
  t.match(full.get('frames/k.h'), '#define PTLITE_HOLDS_scale 1\nconstexpr bool ptlite_accepts(const scale_frame&) { return true; }')
  const cut = emitKernelHeaders({ ...abi, kernels: abi.kernels.slice(1) }, abi.kernels.slice(0, 1), part)
  t.match(cut.get('selection.h'), '((0x50ull >> dtype) & 1) != 0')
  t.match(cut.get('frames/k.h'), '((0x2ull >> value) & 1) != 0')
  t.match(cut.get('frames/k.h'), '#define PTLITE_HOLDS_load 0')
  t.match(cut.get('frames/k.h'), 'return ptlite_holds(static_cast<Kind>(frame.kind));')
  t.notMatch(cut.get('kernel_list.h'), 'X(load)')
  t.end()
})

await t.test('a kernel that is left out has a function that says so', (t) => {
  const text = emitKernelsTs({ ...abi, kernels: abi.kernels.slice(1) }, abi.kernels.slice(0, 1), part)
  t.match(functionText(text, 'load'), "return absentKernel('load')")
  t.match(text, "launch(0, 'scale')")
  t.end()
})

await t.test('the fingerprint changes with every part of the ABI', (t) => {
  const changed = [
    yaml.replace('small, large', 'large, small'),
    yaml.replace('i64[3]', 'i64[4]'),
    yaml.replace('factor: f64', 'factor: i64'),
    yaml.replace('load', 'fetch'),
  ]
  const hashes = new Set([abi, ...changed.map(parse)].map((one) => abiHash(one)))
  hashes.add(abiHash(abi, part))
  t.equal(hashes.size, changed.length + 2)
  t.end()
})

await t.test('mistakes name file, line and kernel', (t) => {
  const cases: [string, string][] = [
    ['- kernel: f\n  fields: { a: i16 }\n', "k.yaml:2: f: 'a' has unknown type 'i16', expected ptr, i64, f64, i32, f32 or an enum"],
    ['- kernel: f\n  fields: { a: "i64[600]" }\n', 'k.yaml:1: f: its frame has 4816 bytes, at most 4096 fit'],
    ['- kernel: f\n- kernel: f\n', 'k.yaml:2: f: declared twice; the other declaration is at k.yaml:1'],
    ['- kernel: f\n  resluts: { a: i32 }\n', "k.yaml:2: f: unknown key 'resluts'"],
    ['- kernel: f\n  results: { a: "i32[2]" }\n', "k.yaml:1: f: result 'a' cannot be an array"],
    [
      '- enum: E\n  values: [a]\n- enum: E\n  values: [b]\n',
      'k.yaml:3: E: declared twice with other values; the other declaration is at k.yaml:1',
    ],
  ]
  for (const [text, message] of cases) t.throws(() => parse(text), { name: 'CodegenError', message })
  t.end()
})
