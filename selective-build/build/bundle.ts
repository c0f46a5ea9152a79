import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { gzipSync } from 'node:zlib'
import type { GeneratedFiles } from '../../codegen/generate.js'
import { PtliteError } from '../../runtime/error.js'
import type { HeldFlag } from './held.js'
import { INSTRUCTION_LOOP, withInstructions } from './instructions.js'
import { type ConstantFields, definesOf, rewrite } from './rewrite.js'

/** Files of the runtime that a build can go without, and what stands in for them (see selective-build/absent). */
const PARTS: readonly { readonly feature: string; readonly file: string; readonly absent: string }[] = [
  { feature: 'loader:ff', file: 'runtime/module/ff.ts', absent: 'selective-build/absent/ff.ts' },
  { feature: 'loader:ptl', file: 'runtime/module/ptl.ts', absent: 'selective-build/absent/ptl.ts' },
  { feature: 'debug-info', file: 'runtime/module/debug.ts', absent: 'selective-build/absent/debug.ts' },
  { feature: 'upgraders', file: 'runtime/interpreter/upgraders.ts', absent: 'selective-build/absent/upgraders.ts' },
  { feature: 'complex', file: 'runtime/tensor/complex.ts', absent: 'selective-build/absent/complex.ts' },
  { feature: 'quantized', file: 'runtime/module/quantization.ts', absent: 'selective-build/absent/quantization.ts' },
  { feature: 'interpreter', file: 'src/load-scripted.ts', absent: 'selective-build/absent/load-scripted.ts' },
  { feature: 'loader:ptlc', file: 'src/load-compiled.ts', absent: 'selective-build/absent/load-compiled.ts' },
  { feature: 'compiler', file: 'src/scripted-module.ts', absent: 'src/selected-module.ts' },
]

export interface BundleInput {
  readonly root: string
  /** File that is bundled, relative to root. */
  readonly entry: string
  /** Files that replace those of the project, by path relative to root. */
  readonly files: GeneratedFiles
  /** Of PARTS, those to keep. */
  readonly features: ReadonlySet<string>
  readonly flags: Readonly<Record<HeldFlag, boolean>>
  readonly constants: ConstantFields
  /** Opcodes of the instructions to keep; null for all. */
  readonly opcodes: ReadonlySet<number> | null
  readonly format: 'esm' | 'cjs'
  readonly minify: boolean
}

export interface Bundle {
  readonly code: Uint8Array
  readonly gzipped: number
  /** Bytes that each source file takes up, by path relative to root. */
  readonly inputs: ReadonlyMap<string, number>
  /** What the module exports. */
  readonly exports: readonly string[]
}

/** Bundles the runtime with the given generated files in place of the project's own, without what nothing refers to. */
export async function bundle(input: BundleInput): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(input.root, input.entry)],
    absWorkingDir: input.root,
    bundle: true,
    write: false,
    metafile: true,
    minify: input.minify,
    platform: 'node',
    format: input.format,
    target: 'node20',
    external: ['koffi'],
    logLevel: 'silent',
    legalComments: 'none',
    plugins: [replacements(input)],
    // of flatbuffers' CommonJS files nothing can be left out
    mainFields: ['module', 'main'],
    // fields are made where they are assigned, not declared again
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    define: { ...definesOf(input.flags), ...(input.format === 'cjs' ? { 'import.meta.url': 'moduleUrl' } : {}) },
    // CommonJS has no import.meta
    ...(input.format === 'cjs' ? { banner: { js: "const moduleUrl=require('node:url').pathToFileURL(__filename).href;" } } : {}),
  }).catch((cause: Error) => {
    throw new PtliteError('INTERNAL', `the runtime cannot be bundled: ${cause.message}`, { cause })
  })
  const code = outputFiles[0]!.contents
  return { code, gzipped: gzipSync(code, { level: 9 }).length, ...describe(metafile) }
}

function describe(metafile: Metafile): { inputs: Map<string, number>; exports: string[] } {
  const [output] = Object.values(metafile.outputs)
  return {
    inputs: new Map(Object.entries(output!.inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput])),
    exports: output!.exports,
  }
}

function replacements({ root, files, features, constants, opcodes }: BundleInput): Plugin {
  const absent = new Map(
    PARTS.filter((part) => !features.has(part.feature)).map((part) => [part.file, part.absent]),
  )
  return {
    name: 'selected parts',
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = relative(root, path)
        const file = absent.get(name) ?? name
        const text = files.get(name) ?? readFileSync(join(root, file), 'utf8')
        const chosen = name === INSTRUCTION_LOOP && opcodes !== null ? withInstructions(text, opcodes) : text
        return { contents: rewrite(chosen, constants), loader: 'ts', resolveDir: join(root, dirname(file)) }
      })
    },
  }
}

/** Kernels that the code of a bundle can launch: the writers in it carry their names. */
export function launchedKernels(code: Uint8Array): Set<string> {
  const text = new TextDecoder().decode(code)
  return new Set([...text.matchAll(/\b\w+\(\d+,\s*["'](\w+)["'](?:,\s*\w+)?\)/g)].map((match) => match[1]!))
}
