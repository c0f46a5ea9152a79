import { defineConfig, type Options } from 'tsup'

const common: Options = {
  target: 'node20',
  platform: 'node',
  outDir: 'dist',
  // the kernel library stands in the same folder
  clean: false,
  // names stay for readable stack traces; scripts/size.mjs reports the fully minified size
  minify: false,
  sourcemap: false,
  treeshake: true,
  external: ['koffi'],
  // one of its classes is used: bundled, it costs 2 kB instead of a package to resolve at start-up
  noExternal: ['flatbuffers'],
  outExtension: ({ format }) => ({ js: format === 'cjs' ? '.cjs' : '.js' }),
}

/** Spaces and long forms cost parsing time at start-up. */
const compact: Options['esbuildOptions'] = (o) => {
  o.minifyWhitespace = true
  o.minifySyntax = true
  // flatbuffers' ES modules: of its CommonJS ones nothing can be left out
  o.mainFields = ['module', 'main']
  // Node prints the whole line that an uncaught error comes from
  o.lineLimit = 160
}

export default defineConfig([
  {
    ...common,
    entry: { index: 'src/index.ts', cli: 'src/cli/main.ts' },
    format: ['esm'],
    splitting: true,
    esbuildOptions: (o, context) => {
      compact(o, context)
      o.chunkNames = 'runtime'
      // yaml's files for Node are CommonJS and call require, which a module has not
      o.alias = { yaml: './node_modules/yaml/browser/index.js' }
    },
  },
  // works from a checkout only, so it has no share in what the package loads
  {
    ...common,
    entry: { 'selective-build': 'src/cli/selective-build-main.ts' },
    format: ['esm'],
    external: ['koffi', 'esbuild', 'typescript'],
    splitting: false,
    esbuildOptions: (o, context) => {
      compact(o, context)
      o.alias = { yaml: './node_modules/yaml/browser/index.js' }
    },
  },
  // the thread behind Module.run: one file, which both index.js and index.cjs start
  { ...common, entry: { worker: 'src/background/worker.ts' }, format: ['esm'], splitting: false, esbuildOptions: compact },
  // `shims` gives the CommonJS build its import.meta.url
  { ...common, entry: { index: 'src/index.ts' }, format: ['cjs'], splitting: false, shims: true, esbuildOptions: compact },
  { ...common, entry: { index: 'src/index.ts' }, format: ['esm', 'cjs'], dts: { only: true } },
])
