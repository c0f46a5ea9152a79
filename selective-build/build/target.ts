import { BROWSER_FILES } from '../../web/bundling/manifest.js'
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
  language: 'node20',
  formats: ['esm', 'cjs'],
  compile: buildNative,
}

const WASM32: Target = {
  name: 'wasm32',
  processor: 'wasm',
  library: 'ptlite.wasm',
  entry: 'web/selected.ts',
  replaced: BROWSER_FILES,
  language: 'es2022',
  formats: ['esm'],
  compile: buildWasm,
}

export const targetOf = (name: TargetName): Target => (name === 'wasm32' ? WASM32 : NATIVE)
