import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { GeneratedFiles } from '../../codegen/generate.js'
import { INSTRUCTION_LOOP, withInstructions } from './instructions.js'
import { standInsFor } from './manifest.js'
import { bundling, fail } from './minify.js'
import { type ConstantFields, rewrite } from './rewrite.js'
import type { Target } from './target.js'

export interface BundleInput {
  readonly root: string
  readonly target: Target
  /** Files that replace those of the project, by path relative to root. */
  readonly files: GeneratedFiles
  /** Of the manifest. */
  readonly features: ReadonlySet<string>
  readonly constants: ConstantFields
  /** Opcodes of the instructions to keep; null for all. */
  readonly opcodes: ReadonlySet<number> | null
}

/** Exports of the bundle besides the entry's, for selective-build/trim: what stands in for functions and for texts that it takes away. */
export const STAND_INS = ['missingPart', 'message', 'failure', 'fail'] as const

/**
 * Bundles the runtime with the given generated files in place of the project's own, without what nothing refers to: an ES module that is
 * not minified, so that more can be done to it.
 */
export async function bundle(input: BundleInput): Promise<string> {
  const { target, root } = input
  const { plugins = [], ...options } = target.bundling(root)
  const { outputFiles } = await build({
    ...bundling,
    ...options,
    write: false,
    entryPoints: [join(root, target.entry)],
    absWorkingDir: root,
    format: 'esm',
    plugins: [...plugins, replacements(input)],
    // of flatbuffers' CommonJS files nothing can be left out
    mainFields: ['module', 'main'],
    // fields are made where they are assigned, not declared again
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  }).catch(fail)
  return withJoinedImports(outputFiles[0]!.text)
}

/** One import of each module of Node, where the bundler leaves that of every file. */
function withJoinedImports(text: string): string {
  const names = new Map<string, string[]>()
  const rest = text.replace(/^import \{ (.*) \} from ("node:.*");\n/gm, (_, listed: string, from: string) => {
    names.set(from, [...(names.get(from) ?? []), listed])
    return ''
  })
  return [...names].map(([from, listed]) => `import { ${listed.join(', ')} } from ${from};\n`).join('') + rest
}

function replacements({ root, target, files, features, constants, opcodes }: BundleInput): Plugin {
  const absent = new Map([...standInsFor(features), ...Object.entries(target.replaced)])
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
        const added = name === target.entry ? standIns(root, target) : ''
        return { contents: added + chosen, loader: 'ts', resolveDir: dirname(path) }
      })
    },
  }
}

function standIns(root: string, { absentMessages }: Target): string {
  const fileOf = (name: (typeof STAND_INS)[number]): string => (name === 'missingPart' ? 'selective-build/absent/part.ts' : absentMessages)
  return STAND_INS.map((name) => `export { ${name} } from ${JSON.stringify(join(root, fileOf(name)))}\n`).join('')
}

/** Kernels that the code of a bundle can launch: the writers in it carry their names. */
export function launchedKernels(text: string): Set<string> {
  return new Set([...text.matchAll(/\b\w+\(\d+,\s*["'](\w+)["'](?:,\s*\w+)?\)/g)].map((match) => match[1]!))
}
