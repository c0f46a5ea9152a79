import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform, type TransformOptions } from 'esbuild'
import { type OutputAsset, type OutputChunk, type OutputOptions, type Plugin, rollup } from 'rollup'

/** What both operators and files take, and plans of files without an operator. */
const SHARED = [
  ...['describe', 'options', 'sparse'].map((name) => `runtime/tensor/${name}.ts`),
  ...['registry', 'missing-operator'].map((name) => `runtime/operators/table/${name}.ts`),
  'runtime/operators/cpu/support/limits.ts',
  'runtime/shapes/packed-weight.ts',
  ...['gemm', 'quantized'].map(kernelsOf),
]
/** The compiler, which comes without most operators, reads weights that these pack. */
const PACKING = [kernelsOf('weight_only')]

function kernelsOf(name: string): string {
  return `runtime/native/generated/kernels/${name}.ts`
}

/** The entries of chunks, in the order in which programs come to load them; importing the package loads the first one. */
export const CHUNKS = {
  tensors: ['src/library.ts', ...SHARED],
  operators: ['chunks/operators.ts', ...PACKING],
  model: ['chunks/model.ts'],
  'more-operators': ['chunks/more-operators.ts'],
  plans: ['chunks/plans.ts'],
  compiler: ['chunks/compiler.ts'],
  formats: ['chunks/formats.ts'],
  background: ['chunks/background.ts'],
  media: ['chunks/media.ts'],
}

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const { sideEffects } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { readonly sideEffects: readonly string[] }
/** Files that are there for what they do, whoever uses what they export. */
const ACTING: ReadonlySet<string> = new Set([
  'src/cli/main.ts',
  'engine/background/worker.ts',
  ...sideEffects.map((path) => path.replace('./', '')),
])

export interface Sources {
  /** Files that others stand for, by their paths from the root. */
  readonly replaced: Readonly<Record<string, string>>
  /** Modules that are no files of the project, by their names. */
  readonly packages: Readonly<Record<string, string>>
}

/** The file that a module is imported from. */
function resolve({ replaced, packages }: Sources, specifier: string, importer: string): string | undefined {
  if (specifier in packages) return `${root}/${packages[specifier]!}`
  if (!specifier.startsWith('.') || importer.includes('node_modules')) return undefined
  const path = new URL(specifier.replace(/\.js$/, '.ts'), `file://${importer}`).pathname
  const stood = replaced[relative(root, path)]
  return stood === undefined ? path : `${root}/${stood}`
}

/** Files that hand on what others export, of which only what is used counts. */
const BARREL = /operators\/\w+\/index\.ts$|generated\/(dispatch|kernels)\.ts$/

/**
 * The chunk of each file: the first one whose entry comes to it, so that a chunk imports none but those that were loaded before. Which files an
 * entry comes to is for the bundler to say, which leaves out what is never used; a file counts with all that it exports, since other chunks may use that.
 */
async function placeFiles(sources: Sources, entries: Readonly<Record<string, readonly string[]>>): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>()
  for (const [name, files] of Object.entries(entries)) {
    const found = new Set(files)
    for (let count = 0; count < found.size;) {
      count = found.size
      for (const file of await filesOf(sources, [...found])) if (!BARREL.test(file) || places.has(file)) found.add(file)
    }
    for (const file of found) if (!places.has(file)) places.set(file, name)
  }
  return places
}

/** What is left in a bundle that exports all of these files. */
async function filesOf(sources: Sources, entries: readonly string[]): Promise<string[]> {
  const { metafile } = await build({
    ...{ absWorkingDir: root, outfile: 'chunk.js', write: false, metafile: true, logLevel: 'error' },
    ...{ bundle: true, format: 'esm', platform: 'node', treeShaking: true },
    stdin: {
      contents: entries
        .filter((file) => file.endsWith('.ts'))
        .map((file, i) => `export * as file${i} from './${file.replace(/\.ts$/, '.js')}'\n`)
        .join(''),
      resolveDir: root,
      sourcefile: 'entry.ts',
    },
    plugins: [
      {
        name: 'sources',
        setup(builder) {
          builder.onResolve({ filter: /./ }, ({ path, importer, resolveDir, kind }) => {
            // waited for, as chunks are
            if (kind === 'dynamic-import') return { path, external: true }
            const file = resolve(sources, path, importer.startsWith('/') ? importer : `${resolveDir}/${importer}`)
            return file === undefined ? undefined : { path: file, sideEffects: ACTING.has(relative(root, file)) }
          })
        },
      },
    ],
  })
  const inputs = Object.entries(Object.values(metafile.outputs)[0]!.inputs)
  return inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 && file !== 'entry.ts' ? [file] : []))
}

/** Throws where a chunk imports one that is loaded after it. */
function checkOrder(output: readonly (OutputChunk | OutputAsset)[], places: ReadonlyMap<string, string>): void {
  const order = [...new Set(places.values())]
  const numberOf = (file: string): number => order.indexOf(file.replace(/^.*\/|\d?\.c?js$/g, ''))
  for (const chunk of output)
    if (chunk.type === 'chunk')
      for (const [other, names] of Object.entries(chunk.importedBindings))
        if (numberOf(chunk.fileName) >= 0 && numberOf(chunk.fileName) < numberOf(other))
          throw new Error(`${chunk.fileName} imports ${names.join(', ')} of ${other}, which is loaded after it`)
}

/** TypeScript for rollup. */
function typescript(sources: Sources, target: string): Plugin {
  return {
    name: 'typescript',
    resolveId: (specifier, importer) => (importer === undefined ? null : resolve(sources, specifier, importer)),
    async transform(code, id) {
      if (!id.endsWith('.ts')) return null
      const { code: text, map } = await transform(code, {
        loader: 'ts',
        target,
        sourcefile: id,
        sourcemap: true,
      })
      return { code: text, map }
    },
  }
}

function minified(options: TransformOptions): Plugin {
  return {
    name: 'minified',
    renderChunk: (code) => transform(code, { minify: true, legalComments: 'none', sourcemap: true, ...options }),
  }
}

export interface Chunks {
  readonly sources: Sources
  /** The files that chunks begin with, in the order in which these are loaded. */
  readonly entries: Readonly<Record<string, readonly string[]>>
  /** Files that programs begin with, by their names in `output`. */
  readonly input: Readonly<Record<string, string>>
  readonly target: string
  /** Characters of a line; without a limit, `new URL` with all of its arguments stands on one line, where bundlers look for it. */
  readonly lineLimit?: number
  readonly plugins?: readonly Plugin[]
  readonly output: OutputOptions & { readonly format: 'cjs' | 'esm' }
}

/** Writes the chunks, and gives what was written. */
export async function writeChunks({
  sources,
  entries,
  input,
  target,
  lineLimit,
  plugins = [],
  output,
}: Chunks): Promise<(OutputChunk | OutputAsset)[]> {
  const places = await placeFiles(sources, entries)
  const bundle = await rollup({
    input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, `${root}/${file}`])),
    external: (id) => id.startsWith('node:') && !(id in sources.packages),
    plugins: [
      ...plugins,
      typescript(sources, target),
      minified({ format: output.format, target, ...(lineLimit === undefined ? {} : { lineLimit }) }),
    ],
    treeshake: { moduleSideEffects: (id) => ACTING.has(relative(root, id)) },
    onwarn(warning, warn) {
      // a barrel is in no chunk, and so looks as if it were in both; what chunks import in the end is checked below
      if (warning.code !== 'CIRCULAR_DEPENDENCY' && warning.code !== 'CIRCULAR_CHUNK') warn(warning)
    },
  })
  const written = await bundle.write({
    ...{ sourcemap: true, sourcemapExcludeSources: true, freeze: false, generatedCode: 'es2015', minifyInternalExports: true },
    ...{ hoistTransitiveImports: false, externalLiveBindings: false, esModule: false },
    manualChunks: (id) => places.get(relative(root, id)) ?? null,
    ...output,
  })
  checkOrder(written.output, places)
  return written.output
}
