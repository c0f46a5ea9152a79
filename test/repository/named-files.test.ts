import t from 'tap'

interface NamedFiles {
  namedFiles(manifest: object): string[]
  loadedFiles(path: string, code: string): string[]
  checkNamedFiles(manifest: object, paths: ReadonlySet<string>, read: (path: string) => string): void
}
const { namedFiles, loadedFiles, checkNamedFiles } = (await import(
  new URL('../../scripts/release/named-files.mjs', import.meta.url).href
)) as NamedFiles

/** What a package names has to be in it. */

const manifest = {
  name: 'net',
  files: ['dist', '!dist/.cache', 'examples/net.mjs'],
  main: './dist/index.cjs',
  bin: { net: 'dist/cli.js' },
  exports: { '.': { import: { types: './dist/index.d.ts', default: './dist/index.js' } }, './web': './dist/web.js' },
}
const files: Readonly<Record<string, string>> = {
  'dist/index.cjs': 'module.exports=require("./load.cjs").load("./library.cjs")',
  'dist/load.cjs': '',
  'dist/library.cjs': 'require("node:fs")',
  'dist/cli.js': '',
  'dist/index.d.ts': '',
  'dist/index.js': "import{createRequire}from'node:module'",
  'dist/web.js': 'import{a}from"./web/tensors.js";export*from"./web/tensors.js"',
  'dist/web/tensors.js': 'new URL("./net.wasm",import.meta.url);import("./more.js");import"../web.js"',
  'dist/web/more.js': '',
  'dist/web/net.wasm': '',
  'examples/net.mjs': '',
}
const check = (left: string): void =>
  checkNamedFiles(manifest, new Set(Object.keys(files).filter((path) => path !== left)), (path) => files[path]!)

t.test('what is named', (t) => {
  t.same(namedFiles(manifest).sort(), ['dist/cli.js', 'dist/index.cjs', 'dist/index.d.ts', 'dist/index.js', 'dist/web.js'])
  t.same(loadedFiles('dist/web/tensors.js', files['dist/web/tensors.js']!).sort(), ['dist/web.js', 'dist/web/more.js', 'dist/web/net.wasm'])
  check('')
  for (const path of Object.keys(files)) t.throws(() => check(path), { message: new RegExp(`^net lacks ${path}`) }, path)
  t.end()
})
