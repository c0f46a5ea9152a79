import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { GeneratedFiles } from '../../codegen/generate.js'
import { formats, writableFormats } from '../../formats/registry.js'
import type { HeldFlag } from './held.js'
import { INSTRUCTION_LOOP, withInstructions } from './instructions.js'
import { bundling, fail } from './minify.js'
import { type ConstantFields, definesOf, rewrite } from './rewrite.js'

/** Files of the runtime, what stands in for them (see selective-build/absent), and the features without all of which that does. */
const PARTS: readonly { readonly features: readonly string[]; readonly file: string; readonly absent: string }[] = [
  ...formats().map(({ name }) => ({
    features: [`loader:${name}`],
    file: `formats/${name}/read.ts`,
    absent: 'selective-build/absent/reader.ts',
  })),
  // apps only load models
  ...writableFormats().map(({ name }) => ({ features: [], file: `formats/${name}/write.ts`, absent: 'selective-build/absent/writer.ts' })),
  // apps are written against the whole library, which says more
  { features: ['advice'], file: 'runtime/tensor/unknown-option.ts', absent: 'selective-build/absent/unknown-option.ts' },
  { features: ['debug-info'], file: 'formats/ptl/debug.ts', absent: 'selective-build/absent/debug.ts' },
  { features: ['upgraders'], file: 'program/upgraders.ts', absent: 'selective-build/absent/upgraders.ts' },
  // the later row counts
  { features: ['upgraders', 'changed-operators'], file: 'program/upgraders.ts', absent: 'selective-build/absent/no-upgraders.ts' },
  { features: ['argument-counts'], file: 'program/argument-counts.ts', absent: 'selective-build/absent/argument-counts.ts' },
  { features: ['complex'], file: 'runtime/tensor/complex.ts', absent: 'selective-build/absent/complex.ts' },
  { features: ['complex'], file: 'runtime/tensor/complex-number.ts', absent: 'selective-build/absent/complex-number.ts' },
  { features: ['complex'], file: 'src/selected-complex.ts', absent: 'selective-build/absent/selected-complex.ts' },
  { features: ['quantized'], file: 'formats/reading/quantization.ts', absent: 'selective-build/absent/quantization.ts' },
  { features: ['interpreter'], file: 'engine/open-program.ts', absent: 'selective-build/absent/open-program.ts' },
  { features: ['interpreter'], file: 'engine/replaced.ts', absent: 'selective-build/absent/replaced.ts' },
  { features: ['loader:ptlc'], file: 'engine/load-plans.ts', absent: 'selective-build/absent/load-plans.ts' },
  { features: ['background'], file: 'engine/background/interpret.ts', absent: 'selective-build/absent/background.ts' },
  { features: ['compiler'], file: 'engine/program-engine.ts', absent: 'selective-build/absent/program-engine.ts' },
  { features: ['compiler', 'loader:ptlc'], file: 'src/call-options.ts', absent: 'selective-build/absent/call-options.ts' },
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
}

/** Exports of the bundle besides the entry's, for selective-build/trim: what stands in for functions and for texts that it takes away. */
export const STAND_INS = {
  missingPart: 'selective-build/absent/part.ts',
  message: 'selective-build/absent/message.ts',
  failure: 'selective-build/absent/message.ts',
  fail: 'selective-build/absent/message.ts',
} as const

/**
 * Bundles the runtime with the given generated files in place of the project's own, without what nothing refers to: an ES module that is
 * not minified, so that more can be done to it.
 */
export async function bundle(input: BundleInput): Promise<string> {
  const { outputFiles } = await build({
    ...bundling,
    entryPoints: [join(input.root, input.entry)],
    absWorkingDir: input.root,
    format: 'esm',
    plugins: [replacements(input)],
    // of flatbuffers' CommonJS files nothing can be left out
    mainFields: ['module', 'main'],
    // fields are made where they are assigned, not declared again
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    define: definesOf(input.flags),
  }).catch(fail)
  return outputFiles[0]!.text
}

function replacements({ root, entry, files, features, constants, opcodes }: BundleInput): Plugin {
  const absent = new Map(
    PARTS.filter((part) => !part.features.some((feature) => features.has(feature))).map((part) => [part.file, part.absent]),
  )
  return {
    name: 'selected parts',
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = relative(root, path)
        // what stands in for several files is in the bundle once
        const standIn = absent.get(name)
        if (standIn !== undefined) return { contents: `export * from ${JSON.stringify(join(root, standIn))}`, loader: 'ts' }
        const text = files.get(name) ?? readFileSync(path, 'utf8')
        const written = rewrite(text, constants)
        const chosen = name === INSTRUCTION_LOOP && opcodes !== null ? withInstructions(written, opcodes) : written
        const added = name === entry ? standIns(root) : ''
        return { contents: added + chosen, loader: 'ts', resolveDir: dirname(path) }
      })
    },
  }
}

function standIns(root: string): string {
  return Object.entries(STAND_INS)
    .map(([name, file]) => `export { ${name} } from ${JSON.stringify(join(root, file))}\n`)
    .join('')
}

/** Kernels that the code of a bundle can launch: the writers in it carry their names. */
export function launchedKernels(text: string): Set<string> {
  return new Set([...text.matchAll(/\b\w+\(\d+,\s*["'](\w+)["'](?:,\s*\w+)?\)/g)].map((match) => match[1]!))
}
