import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import t from 'tap'
import { cachingHost, errorsOf } from '../codegen/support/compile.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

const MODULE = `
import { arange, loadModule, tensor, type Tensor, type TypedModule, zeros } from 'ptlite'
const m = await loadModule(new URL('file:///model.ptl'), { compile: 'off' })
const y = m.forward<Tensor>(tensor([1, 2]))
const [values, indices] = y.softmax().topk(5)
const [a, b] = m.call<[Tensor, number]>('other', [y])
const all: readonly number[] = a.add(1).shape
console.log(values.toArray(), indices.data(), all, b.toFixed(), m.inputs?.[0]?.name)
m.dispose()

const x = tensor(new Float32Array(4), [2, 2])
const data: Float32Array = x.relu().add(1).softmax().data()
const sum: number = x.sum().item()
const places: BigInt64Array = x.argmax(0).data()
const flags: boolean = x.gt(0).any().item()
const rows = x.exp().toArray<number[][]>()
const counts: Tensor<'int64'> = arange(3, 'int64')
const ids: bigint | number = tensor([1n]).item()
const halves: Uint16Array = zeros([2], 'float16').data()
const [largest, at] = x.max(1)
const some: Float32Array | BigInt64Array = [largest.data(), at.data()][0]!
let any: Tensor = x
any = counts
for (const row of x) console.log(row.item() + rows[0]![0]! + data[0]! + sum, places, flags, ids, halves, some, any)
// @ts-expect-error: of float32
const wrong: BigInt64Array = x.data()
// @ts-expect-error: a comparison has no floats
const floats: Tensor<'float32'> = x.eq(1)
interface Methods { forward(image: Tensor<'float32'>): Tensor<'float32'>; tell(n: number): [string, Tensor] }
const typed = await loadModule<TypedModule<Methods>>('model.pt2')
const result: Float32Array = typed.forward(x).data()
const told: string = (await typed.run('tell', [1]))[0]
// @ts-expect-error: of another dtype
typed.forward(counts)
// @ts-expect-error: no such method
typed.call('forget', [])
console.log(wrong, floats, result, told, typed.methods)
`
const COMMON = `
import ptlite = require('ptlite')
async function main(): Promise<void> {
  const m = await ptlite.loadModule('model.ptl')
  const y = await m.run<ptlite.Tensor>('forward', [ptlite.tensor([1, 2])])
  console.log(y.add(1).shape)
}
void main()
`

/** The README's code, which its reader copies into a file. */
const README = /```(?:ts|js|javascript)\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))![1]!

/** An example that has `using`. */
const EXAMPLE = readFileSync(join(root, 'examples/search/main.ts'), 'utf8')

const folder = mkdtempSync(join(tmpdir(), 'ptlite-types-'))
t.teardown(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
symlinkSync(root, join(folder, 'node_modules/ptlite'))
for (const name of ['@types/node', '@types/pngjs', 'undici-types'])
  symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
for (const [name, text] of Object.entries({
  'a.mts': MODULE,
  'a.ts': MODULE,
  'b.cts': COMMON,
  'readme.mts': README,
  'example.mts': EXAMPLE,
}))
  writeFileSync(join(folder, name), text)

const strict: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  target: ts.ScriptTarget.ES2022,
  skipLibCheck: false,
}
const { ModuleKind, ModuleResolutionKind } = ts

/** What compiles a program that uses the package: files, and how. */
const PROGRAMS: Readonly<Record<string, readonly [files: readonly string[], options: ts.CompilerOptions]>> = {
  nodenext: [
    ['a.mts', 'b.cts', 'readme.mts'],
    { module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext, types: ['node'] },
  ],
  node16: [['a.mts', 'b.cts'], { module: ModuleKind.Node16, moduleResolution: ModuleResolutionKind.Node16, types: ['node'] }],
  'a bundler': [['a.ts'], { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler, types: ['node'] }],
  commonjs: [['b.cts'], { module: ModuleKind.CommonJS, moduleResolution: ModuleResolutionKind.Node10, types: ['node'] }],
  'resources with using': [
    ['example.mts'],
    {
      module: ModuleKind.NodeNext,
      moduleResolution: ModuleResolutionKind.NodeNext,
      types: ['node'],
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    },
  ],
  "a browser's types": [
    ['a.ts'],
    { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler, types: [], lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'] },
  ],
}

t.test('programs that use the package pass the compiler, which checks its declarations', async (t) => {
  for (const [name, [files, options]] of Object.entries(PROGRAMS)) {
    const all = { ...strict, ...options }
    const program = ts.createProgram(
      files.map((file) => join(folder, file)),
      all,
      cachingHost(all, (name) => /typescript\/lib\/lib\./.test(name)),
    )
    // the declarations of Node and of the language are not for us to check
    const found = errorsOf(program, (name) => !/node_modules\/(typescript|@types|undici-types)\//.test(name)).map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    )
    t.same(found, [], name)
  }
})

t.test('declarations are those of TypeScript 5.0', async (t) => {
  // whose typed arrays have no type parameters
  for (const name of ['index.d.ts', 'index.d.cts'])
    t.notMatch(readFileSync(join(root, 'dist', name), 'utf8'), /\b(Big)?(Int|Uint|Float)\d+(Clamped)?Array</, name)
})
