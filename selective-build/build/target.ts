import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildOptions } from 'esbuild'
import { forBrowsers } from '../../web/bundling/for-browsers.js'
import { GLOBALS, REPLACED } from '../../web/bundling/manifest.js'
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
  /** What the runtime's `setNativeLibrary` takes for a file of kernels. */
  readonly libraryAt: (path: string) => string
  /** The forms in which apps give a model to loadModule. */
  readonly formsOf: (path: string) => readonly (string | Uint8Array | ArrayBuffer)[]
  /** File that is bundled, relative to the project. */
  readonly entry: string
  /** Files with others in their place, besides those of the manifest, relative to the project. */
  readonly replaced: Readonly<Record<string, string>>
  readonly absentMessages: string
  /** How the bundler has to be told. */
  readonly bundling: (root: string) => BuildOptions
  readonly formats: readonly ('esm' | 'cjs')[]
  readonly compile: (input: NativeInput) => Promise<NativeLibrary>
}

const NATIVE: Target = {
  name: 'native',
  processor: PROCESSOR,
  library: 'libptlite.so',
  libraryAt: (path) => path,
  formsOf: (path) => [path, readFileSync(path)],
  entry: 'src/selected.ts',
  replaced: {},
  absentMessages: 'selective-build/absent/message.ts',
  bundling: () => ({}),
  formats: ['esm', 'cjs'],
  compile: buildNative,
}

const WASM32: Target = {
  name: 'wasm32',
  processor: 'wasm',
  library: 'ptlite.wasm',
  libraryAt: (path) => pathToFileURL(path).href,
  // what pages fetch is an ArrayBuffer
  formsOf: (path) => [path, readFileSync(path), new Uint8Array(readFileSync(path)), new Uint8Array(readFileSync(path)).buffer],
  entry: 'web/selected.ts',
  replaced: REPLACED,
  absentMessages: 'selective-build/absent/message-web.ts',
  bundling: (root) => ({
    platform: 'browser',
    target: 'es2022',
    inject: GLOBALS.map((file) => join(root, file)),
    plugins: [forBrowsers(root)],
  }),
  formats: ['esm'],
  compile: buildWasm,
}

export const targetOf = (name: TargetName): Target => (name === 'wasm32' ? WASM32 : NATIVE)
