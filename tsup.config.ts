import { defineConfig, type Options } from 'tsup'

const common: Options = {
  target: 'node20',
  platform: 'node',
  outDir: 'dist',
  // the kernel library stands in the same folder
  clean: false,
  // readable stack traces are worth more than bytes on disk; scripts/size.mjs reports the minified size
  minify: false,
  sourcemap: false,
  treeshake: true,
  external: ['koffi', 'flatbuffers'],
  outExtension: ({ format }) => ({ js: format === 'cjs' ? '.cjs' : '.js' }),
}

export default defineConfig([
  {
    ...common,
    entry: { index: 'src/index.ts', cli: 'src/cli/main.ts' },
    format: ['esm'],
    splitting: true,
    esbuildOptions: (o) => {
      o.chunkNames = 'runtime'
      // yaml's files for Node are CommonJS and call require, which a module has not
      o.alias = { yaml: './node_modules/yaml/browser/index.js' }
    },
  },
  // `shims` gives the CommonJS build its import.meta.url
  { ...common, entry: { index: 'src/index.ts' }, format: ['cjs'], splitting: false, shims: true },
  { ...common, entry: { index: 'src/index.ts' }, format: ['esm', 'cjs'], dts: { only: true } },
])
