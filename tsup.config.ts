import { defineConfig, type Options } from 'tsup'

// scripts/build/node.ts writes index.js and index.cjs with their chunks, cli.js and worker.cjs
const common: Options = {
  target: 'node20',
  platform: 'node',
  outDir: 'dist',
  // the kernel library stands in the same folder
  clean: false,
  // what a name in code takes to read is spent at each start; errors have their code and message
  minify: true,
  sourcemap: true,
  treeshake: true,
  splitting: false,
  // one of its classes is used: bundled, it costs 2 kB instead of a package to resolve at start-up
  noExternal: ['flatbuffers'],
  outExtension: ({ format }) => ({ js: format === 'cjs' ? '.cjs' : '.js' }),
  esbuildOptions(o) {
    // flatbuffers' ES modules: of its CommonJS ones nothing can be left out
    o.mainFields = ['module', 'main']
    // Node prints the whole line that an uncaught error comes from
    o.lineLimit = 160
    // yaml's files for Node are CommonJS and call require, which a module has not
    o.alias = { yaml: './node_modules/yaml/browser/index.js' }
  },
}

export default defineConfig([
  // compiles the sources, which are not in the package, so it has no share in what that loads
  { ...common, entry: { 'selective-build': 'src/cli/selective-build-launcher.ts' }, format: ['esm'] },
  {
    ...common,
    entry: { 'build-selected': 'src/cli/selective-build-main.ts' },
    format: ['esm'],
    external: ['esbuild', 'rollup', 'terser'],
  },
  // what commands read pictures by
  { ...common, entry: { decoders: 'src/cli/decoders.ts' }, format: ['cjs'], noExternal: ['jpeg-js', 'pngjs'] },
  // the library in one file, for bundlers; those that make CommonJS of it leave import.meta empty
  {
    ...common,
    entry: { whole: 'src/index.ts' },
    format: ['esm'],
    define: { 'import.meta.url': 'HERE' },
    banner: { js: `import{pathToFileURL as urlOf}from"node:url";const HERE=import.meta.url??urlOf(__filename).href;` },
  },
  // what tests import, of which nothing else is part
  { ...common, entry: { testing: 'src/testing.ts' }, format: ['esm', 'cjs'], dts: true },
  // what browsers have is bundled by scripts/build/web.ts
  { ...common, entry: { web: 'web/index.ts' }, format: ['esm'], dts: { only: true, compilerOptions: { stripInternal: true } } },
  { ...common, entry: { index: 'src/index.ts' }, format: ['esm', 'cjs'], dts: { only: true, compilerOptions: { stripInternal: true } } },
])
