import { build, type BuildOptions } from 'esbuild'
import { gzipSync } from 'node:zlib'
import { minify as shorten, type MinifyOptions } from 'terser'
import { PtliteError } from '../../runtime/error.js'
import type { Messages } from '../trim/messages.js'
import { sharesOf } from '../trim/shares.js'
import { parseBundle } from '../trim/source.js'

export interface Bundle {
  readonly code: Uint8Array
  readonly gzipped: number
  /** Bytes that each source file takes up, by path relative to the project. */
  readonly inputs: ReadonlyMap<string, number>
  /** What the module exports. */
  readonly exports: readonly string[]
}

/** Of both steps, the first of which bundles and the second minifies. */
export const bundling = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20',
  logLevel: 'silent',
  legalComments: 'none',
} as const satisfies BuildOptions

export function fail(cause: Error): never {
  throw new PtliteError('INTERNAL', `the runtime cannot be bundled: ${cause.message}`, { cause })
}

/** What a bundle was made into before it is minified. */
export interface Prepared {
  /** The texts that were taken out of it. */
  readonly messages: Pick<Messages, 'hash' | 'codes'>
  /** Properties that can have other names. */
  readonly ownNames: readonly string[]
}

const UNPREPARED: Prepared = { messages: { hash: '', codes: {} }, ownNames: [] }

/** What terser finds in a module beyond what esbuild does: functions and variables that are used once, or hold what never changes. */
const SHORTENING: MinifyOptions = {
  ecma: 2020,
  toplevel: true,
  compress: {
    passes: 6,
    hoist_funs: true,
    keep_fargs: false,
    pure_getters: true,
    unsafe_arrows: true,
    // of these nothing is noted but what is made
    pure_funcs: ['FinalizationRegistry', 'Float32Array', 'Int32Array', 'Map', 'Set'],
  },
}

/** Minifies a bundle and leaves out what nothing in it refers to. */
export async function minify(
  text: string,
  format: 'esm' | 'cjs',
  { messages, ownNames }: Prepared = UNPREPARED,
  { platform, target }: Pick<BuildOptions, 'platform' | 'target'> = bundling,
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    ...bundling,
    ...(platform === undefined ? {} : { platform }),
    ...(target === undefined ? {} : { target }),
    // names that are imported and not used are left out of TypeScript alone
    stdin: { contents: text, loader: 'ts', sourcefile: 'bundle.ts' },
    outfile: 'index.js',
    format,
    minify: true,
    ...(ownNames.length === 0 ? {} : { mangleProps: new RegExp(`^(?:${ownNames.map((name) => name.replace(/\$/g, '\\$&')).join('|')})$`) }),
    metafile: true,
    sourcemap: 'external',
    sourcesContent: false,
    // CommonJS has no import.meta
    define: {
      MESSAGES_HASH: JSON.stringify(messages.hash),
      MESSAGE_CODES: JSON.stringify(messages.codes),
      ...(format === 'cjs' ? { 'import.meta.url': 'moduleUrl' } : {}),
    },
    banner: { js: format === 'cjs' ? "const moduleUrl=require('node:url').pathToFileURL(__filename).href;" : '' },
  }).catch(fail)
  const [map, code] = ['.map', '.js'].map((ending) => outputFiles.find((file) => file.path.endsWith(ending))!) as [
    (typeof outputFiles)[0],
    (typeof outputFiles)[0],
  ]
  const shortened = await shorten(code.text, {
    ...SHORTENING,
    module: format === 'esm',
    sourceMap: { content: map.text },
  }).catch(fail)
  const [short, { mappings }] = [shortened.code!, JSON.parse(shortened.map as string) as { mappings: string }]
  const contents = Buffer.from(short)
  const output = Object.entries(metafile.outputs).find(([name]) => name.endsWith('.js'))![1]
  return {
    code: contents,
    gzipped: gzipSync(contents, { level: 9 }).length,
    inputs: sharesOf(short, mappings, parseBundle(text)),
    exports: output.exports,
  }
}
