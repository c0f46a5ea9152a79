import { readFileSync } from 'node:fs'
import t from 'tap'
import { readKernels } from '../../codegen/generate.js'
import { checkFrame, workOf } from '../../compiler/frames/check-frame.js'
import { capture } from '../../compiler/capture/capture.js'
import { Field } from '../../formats/ptlc/schema.js'
import { parseKernels } from '../../codegen/kernel-abi/parse.js'
import { parseEntries } from '../../codegen/yaml-file.js'
import { Tuple, type Value } from '../../runtime/tensor/value.js'
import { callOperator, tensor, type Tensor } from '../../src/index.js'

const root = new URL('../../', import.meta.url).pathname

/** Kernels that plans may hold, but files may not: what they read depends on data, or on memory of this process. */
const UNDECLARED: Readonly<Record<string, string>> = {
  bin_count: 'indices are data',
  budget_enter: 'not captured',
  budget_leave: 'not captured',
  ctc_loss: 'indices are data',
  embedding_bag: 'offsets are data',
  householder_qr: 'seldom in models',
  jit_elementwise: 'generated code',
  jit_release: 'generated code',
  lu_factor: 'seldom in models',
  margin_loss: 'indices are data',
  masked_unpack: 'how much it reads depends on data',
  mem_discard: 'not captured',
  mem_forget: 'not captured',
  mem_free: 'not captured',
  mem_trim: 'not captured',
  mem_unmap: 'not captured',
  owner_enter: 'not captured',
  owner_release: 'not captured',
  plan_run: 'not captured',
  renorm_rows: 'indices are data',
  roi_align: 'indices are data',
  roi_pool: 'indices are data',
  singular_values: 'seldom in models',
  sparse_dense: 'generated code',
  sparse_release: 'generated code',
  symmetric_eigen: 'seldom in models',
}

t.test('kernels that plans may hold say how far they reach', (t) => {
  const { kernels } = readKernels(`${root}codegen/kernels`, root)
  const captured = kernels.filter(
    (k) => k.results.length === 0 && !k.name.startsWith('random_') && (!k.host || ['mem_write', 'quantized_lookup'].includes(k.name)),
  )
  const silent = captured.filter((k) => k.extents === null).map((k) => k.name)
  t.strictSame(silent, Object.keys(UNDECLARED), "declare 'extents' beside the kernel, see docs/adding-a-kernel.md")
  t.end()
})

function framesOf(run: () => Value, inputs: readonly Tensor[]) {
  const { captured } = capture(run, inputs)
  if (captured === null) throw new Error('not captured')
  return captured
}

t.test('a frame and its memory', (t) => {
  const x = tensor(new Float32Array(12), [3, 4])
  const y = tensor(new Float32Array(20), [4, 5])
  const { frames, buffers } = framesOf(() => callOperator('aten::mm', [x, y]) as Tensor, [x, y])
  const sizeOf = ({ kind, index }: { kind: string; index: number }): number => (kind === 'input' ? [48, 80][index]! : buffers[index]!.bytes)
  const gemm = frames.find((f) => f.layout.name === 'gemm')!
  t.equal(checkFrame(gemm, sizeOf), null)
  t.strictSame(workOf(gemm), { flops: 2 * 3 * 4 * 5, bytes: 4 * (12 + 20 + 15) })
  const set = (field: string, value: number) => {
    const bytes = gemm.bytes.slice()
    new DataView(bytes.buffer).setInt32(gemm.layout.fields.get(field)!.offset, value, true)
    return checkFrame({ ...gemm, bytes }, sizeOf)
  }
  t.match(set('m', 4), /reaches outside/)
  t.match(set('k', 5), /reaches outside/)
  t.match(set('m', -3), /m is -3/)
  t.match(set('packed', 3), /expected packed <= 2/)
  t.match(set('dtype', 9999), /unknown type/)
  const without = (field: string) =>
    checkFrame({ ...gemm, pointers: gemm.pointers.filter((p) => p.at !== gemm.layout.fields.get(field)!.offset) }, sizeOf)
  t.match(without('a'), /reaches outside of the memory of a/)
  t.equal(without('source'), null, 'an address that may be 0')
  t.end()
})

t.test('dimensions that are walked backwards', (t) => {
  const x = tensor(new Float32Array(12), [3, 4])
  const { frames, buffers } = framesOf(() => callOperator('aten::flip', [x, [0, 1]]) as Tensor, [x])
  const sizeOf = ({ kind, index }: { kind: string; index: number }): number => (kind === 'input' ? 48 : buffers[index]!.bytes)
  const [copy] = frames
  t.equal(copy!.layout.name, 'copy')
  t.equal(checkFrame(copy!, sizeOf), null)
  const moved = (by: number) =>
    checkFrame({ ...copy!, pointers: copy!.pointers.map((p) => (p.target.kind === 'input' ? { ...p, offset: p.offset + by } : p)) }, sizeOf)
  for (const by of [-44, -4, 4]) t.match(moved(by), /reaches outside of the memory of in/, `${by} bytes further`)
  t.end()
})

t.test('sizes that do not give the elements that are counted', (t) => {
  const x = tensor(new Float32Array(12), [3, 4])
  const { frames, buffers } = framesOf(() => callOperator('aten::flip', [x, [1]]) as Tensor, [x])
  const [copy] = frames
  const { layout, bytes } = copy!
  const { offset } = layout.fields.get('sizes')!
  const sized = (...sizes: readonly number[]) => {
    const changed = bytes.slice()
    const view = new DataView(changed.buffer)
    sizes.forEach((size, i) => view.setBigInt64(offset + 8 * i, BigInt(size), true))
    return checkFrame({ ...copy!, bytes: changed }, ({ kind, index }) => (kind === 'input' ? 48 : buffers[index]!.bytes))
  }
  t.equal(sized(4, 3), null)
  // a kernel would count to a size of 0 for ever, or divide by it, and read on where sizes give less than n
  for (const sizes of [
    [0, 0],
    [4, 0],
    [0, 3],
    [4, 2],
    [1, 1],
  ])
    t.match(sized(...sizes), /12 elements/, sizes.join())
  t.end()
})

t.test('dense decompositions stay within their matrices', (t) => {
  const a = tensor([4, 1, 0, 1, 5, 2, 0, 2, 6], [3, 3])
  const b = tensor([1, 2, 3, 4, 5, 6], [3, 2])
  const cases: [string, string, readonly Tensor[], Parameters<typeof callOperator>[1]][] = [
    ['linalg_solve', 'aten::linalg_solve', [a, b], [a, b]],
    ['linalg_slogdet', 'aten::linalg_slogdet', [a], [a]],
    ['linalg_cholesky', 'aten::linalg_cholesky', [a], [a]],
    ['linalg_triangular_solve', 'aten::linalg_solve_triangular', [a, b], [a, b, true]],
  ]
  for (const [kernel, operator, inputs, args] of cases) {
    const run = (): Value => {
      const result = callOperator(operator, args)
      return (Array.isArray(result) ? new Tuple(result as Value[]) : result) as Value
    }
    const { frames, buffers } = framesOf(run, inputs)
    const frame = frames.find((f) => f.layout.name === kernel)!
    const sizeOf = ({ kind, index }: { kind: string; index: number }): number =>
      kind === 'input' ? inputs[index]!.numel * 4 : buffers[index]!.bytes
    t.equal(checkFrame(frame, sizeOf), null, kernel)
    t.ok(workOf(frame)!.flops > 0)
    for (const field of ['n', 'batch']) {
      const bytes = frame.bytes.slice()
      new DataView(bytes.buffer).setBigInt64(frame.layout.fields.get(field)!.offset, 4n, true)
      t.match(checkFrame({ ...frame, bytes }, sizeOf), /reaches outside/, `${kernel}, larger ${field}`)
    }
    const bytes = frame.bytes.slice()
    const view = new DataView(bytes.buffer)
    view.setBigInt64(frame.layout.fields.get('n')!.offset, 0n, true)
    view.setBigInt64(frame.layout.fields.get('batch')!.offset, 2n ** 50n, true)
    t.match(checkFrame({ ...frame, bytes }, sizeOf), /expected n > 0/, 'many empty matrices')
  }
  t.end()
})

t.test('declarations that make no sense', (t) => {
  const parse = (extents: string) => () =>
    parseKernels(parseEntries(`- kernel: k\n  doc: d\n  fields: { n: i32, sizes: 'i64[3]', x: ptr }\n  extents: ${extents}\n`, 'k.yaml'))
  t.doesNotThrow(parse('{ x: product(sizes) * n }'))
  t.throws(parse('{ }'), /no extent for x/)
  t.throws(parse('{ x: n, y: n }'), /y is no address/)
  t.throws(parse('{ x: m }'), /no field 'm'/)
  t.throws(parse('{ x: sizes }'), /'sizes' is an array/)
  t.throws(parse("{ x: 'n[0]' }"), /'n' is no array/)
  t.throws(parse('{ x: twice(n) }'), /no function 'twice'/)
  t.throws(parse('{ x: n + }'), /a number or name was expected/)
  t.throws(parse("{ x: 'n; n' }"), /cannot be read/)
  t.throws(parse('{ x: n n }'), /'n' was not expected/)
  t.end()
})

t.test('field numbers follow plan.fbs', (t) => {
  const text = readFileSync(`${root}formats/ptlc/plan.fbs`, 'utf8').replace(/\/\/.*/g, '')
  const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const tables = [...text.matchAll(/table (\w+) \{([^}]*)\}/g)].map(([, name, body]): [string, string[]] => [
    name!.toLowerCase(),
    [...body!.matchAll(/(\w+):/g)].map((match) => camel(match[1]!)),
  ])
  const known = Object.entries(Field).map(([name, fields]): [string, string[]] => [name, Object.keys(fields)])
  t.strictSame(Object.fromEntries(known), Object.fromEntries(tables))
  for (const fields of Object.values(Field)) t.strictSame(Object.values(fields), [...Object.keys(fields).keys()])
  t.end()
})
