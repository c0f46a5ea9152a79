import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve as resolvePath } from 'node:path'
import { gzipSync } from 'node:zlib'
import { transform } from 'esbuild'
import { type Plugin, rollup, type RollupCache } from 'rollup'
import { minify } from 'terser'
import type { GeneratedFiles } from '../../codegen/generate.js'
import { PtliteError } from '../../runtime/error.js'
import { PACKAGES } from '../../web/bundling/manifest.js'
import type { Target } from './target.js'

export interface BundleInput {
  readonly root: string
  readonly target: Target
  /** Files that replace those of the project, by path relative to root. */
  readonly files: GeneratedFiles
  /** Of a bundle with other files. */
  readonly cache?: RollupCache | undefined
}

/** The runtime in one module, without what nothing refers to. */
export interface Bundle {
  readonly exports: readonly string[]
  /** Names of the kernels that its code can launch. */
  readonly kernels: ReadonlySet<string>
  readonly cache: RollupCache | undefined
  minified(format: 'esm' | 'cjs'): Promise<Minified>
}

export interface Minified {
  readonly code: Uint8Array
  readonly gzipped: number
  /** Bytes by source file, relative to the project: the code's, divided as the files' shares are before it is minified. */
  readonly files: ReadonlyMap<string, number>
}

/** The file whose exports are the kernels. */
const KERNELS = 'runtime/native/generated/kernels.ts'

/** Bundles the runtime with the given files in place of the project's own. */
export async function bundle({ root, target, files, cache }: BundleInput): Promise<Bundle> {
  const bundled = await rollup({
    input: join(root, target.entry),
    plugins: [sources(root, target, files)],
    treeshake: { preset: 'smallest', moduleSideEffects: actingModules(root) },
    onwarn: () => undefined,
    ...(cache === undefined ? {} : { cache }),
  }).catch(fail)
  const generate = async (format: 'esm' | 'cjs') => {
    const { output } = await bundled.generate({ format, generatedCode: 'es2015', exports: 'named' }).catch(fail)
    return output[0]
  }
  const { exports, modules } = await generate('esm')
  return {
    exports,
    kernels: new Set(modules[join(root, KERNELS)]?.renderedExports ?? []),
    cache: bundled.cache,
    async minified(format) {
      const chunk = await generate(format)
      const { code = '' } = await minify(chunk.code, {
        module: format === 'esm',
        toplevel: true,
        ecma: 2020,
        compress: { passes: 3 },
      }).catch(fail)
      const contents = Buffer.from(code)
      const shares = Object.entries(chunk.modules).map(([path, { renderedLength }]) => [relative(root, path), renderedLength] as const)
      const total = shares.reduce((sum, [, length]) => sum + length, 0)
      return {
        code: contents,
        gzipped: gzipSync(contents, { level: 9 }).length,
        files: new Map(shares.map(([file, length]) => [file, Math.round((contents.length * length) / total)])),
      }
    },
  }
}

function fail(cause: Error): never {
  throw new PtliteError('INTERNAL', `the runtime cannot be bundled: ${cause.message}`, { cause })
}

/** Modules that are there for what they do, as package.json says. */
function actingModules(root: string): (id: string) => boolean {
  const { sideEffects } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly sideEffects: readonly string[] }
  const acting = new Set(sideEffects.map((file) => join(root, file)))
  return (id) => acting.has(id)
}

/** Finds and reads sources, or the files in their place, and makes JavaScript of them. */
function sources(root: string, { replaced, language }: Target, files: GeneratedFiles): Plugin {
  const { resolve } = createRequire(join(root, 'package.json'))
  const fileOfPackage = (file: string): string => {
    const folders = resolve.paths(file) ?? []
    const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(path))
    if (found === undefined) throw new PtliteError('INVALID_FILE', `the runtime cannot be bundled: there is no node_modules/${file}`)
    return found
  }
  return {
    name: 'selected sources',
    resolveId(specifier, importer) {
      if (importer === undefined) return specifier
      if (specifier.startsWith('node:')) return { id: specifier, external: true, moduleSideEffects: false }
      const file = PACKAGES[specifier]
      if (file !== undefined) return fileOfPackage(file)
      const path = resolvePath(dirname(importer), specifier)
      const source = path.replace(/\.js$/, '.ts')
      const found = existsSync(source) ? source : path
      const other = replaced[relative(root, found)]
      return other === undefined ? found : join(root, other)
    },
    async load(path) {
      const file = relative(root, path)
      const text = files.get(file) ?? readFileSync(path, 'utf8')
      if (!path.endsWith('.ts')) return text
      const { code } = await transform(text, {
        loader: 'ts',
        target: language,
        // fields are made where they are assigned, not declared again
        tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
      })
      return code
    },
  }
}
