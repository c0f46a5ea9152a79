import { moduleForBrowsers, withGlobals } from '../../web/bundling/for-browsers.js'
import { REPLACED } from '../../web/bundling/manifest.js'
import { buildNative, type NativeInput, type NativeLibrary } from './native.js'
import { PROCESSOR } from './sources.js'
import { buildWasm } from './wasm.js'

export const TARGETS = ['native', 'wasm32'] as const
export type TargetName = (typeof TARGETS)[number]

/** What a build is for: this machine, or engines of WebAssembly. */
export interface Target {
  readonly name: TargetName
  /** The folder of its kernels below kernels/arch/. */
  readonly processor: string
  /** The file of kernels in the output. */
  readonly library: string
  /** File that is bundled, relative to the project. */
  readonly entry: string
  /** Files with others in their place, relative to the project. */
  readonly replaced: Readonly<Record<string, string | undefined>>
  /** The file in the place of a module of Node, relative to the project; undefined where the host has the module. */
  readonly modules: (specifier: string) => string | undefined
  /** The text of a source file, relative to the project, with what stands for globals of Node. */
  readonly withGlobals: (root: string, text: string, file: string) => string
  /** Of JavaScript. */
  readonly language: string
  readonly formats: readonly ('esm' | 'cjs')[]
  readonly compile: (input: NativeInput) => Promise<NativeLibrary>
}

const NATIVE: Target = {
  name: 'native',
  processor: PROCESSOR,
  library: 'libptlite.so',
  entry: 'src/selected.ts',
  replaced: {},
  modules: () => undefined,
  withGlobals: (_root, text) => text,
  language: 'node20',
  formats: ['esm', 'cjs'],
  compile: buildNative,
}

const WASM32: Target = {
  name: 'wasm32',
  processor: 'wasm',
  library: 'ptlite.wasm',
  entry: 'web/selected.ts',
  replaced: REPLACED,
  modules: moduleForBrowsers,
  withGlobals,
  language: 'es2022',
  formats: ['esm'],
  compile: buildWasm,
}

export const targetOf = (name: TargetName): Target => (name === 'wasm32' ? WASM32 : NATIVE)
