import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { GeneratedFiles } from '../generate.js'
import { banner } from './file.js'

/** A row of targets.json: what kernel libraries are built for. scripts/targets.mjs says what the others of its fields are. */
interface Target {
  readonly name: string
  readonly platform: string
  readonly arch: string
  readonly processor: string
  readonly machine: { readonly elf: number; readonly pe: number }
  readonly library: string
  /** Of those that there is a package for. */
  readonly npm?: unknown
}

/** What the library has to know of platforms, from the table of all. */
export function emitTargets(root: string): GeneratedFiles {
  const targets = JSON.parse(readFileSync(join(root, 'targets.json'), 'utf8')) as readonly Target[]
  const record = (rows: readonly (readonly [string | number, string])[]): string =>
    [...new Map(rows)].map(([key, value]) => `  ${typeof key === 'number' ? key : `'${key}'`}: ${value},\n`).join('')
  const packages = targets.filter((t) => t.npm !== undefined)
  return new Map([
    [
      'runtime/native/generated/targets.ts',
      `${banner('targets.ts', 'targets.json')}
/** Names of the kernel library's file, by system. */
export const LIBRARY_FILES: Readonly<Record<string, string>> = {
${record(targets.map((t) => [t.platform, `'${basename(t.library)}'`]))}}

/** Folders of kernels/arch, by processor. */
export const PROCESSOR_FOLDERS: Readonly<Record<string, string>> = {
${record(targets.map((t) => [t.arch, `'${t.processor}'`]))}}

/** Processors by what ELF files call them. */
export const ELF_MACHINES: Readonly<Record<number, string>> = {
${record(targets.map((t) => [t.machine.elf, `'${t.arch}'`]))}}

/** Processors by what files of Windows call them. */
export const PE_MACHINES: Readonly<Record<number, string>> = {
${record(targets.map((t) => [t.machine.pe, `'${t.arch}'`]))}}
`,
    ],
    [
      'runtime/native/generated/packages.ts',
      `${banner('targets.ts', 'targets.json')}import { createRequire } from 'node:module'

/**
 * Packages by platform, each of which gives the path of its kernel library. A name stands in a call of its own, since tools that bundle programs or
 * copy what they need look for these.
 */
export const PACKAGES: Readonly<Record<string, (() => unknown) | undefined>> = {
${record(packages.map(({ name }) => [name, `() => createRequire(import.meta.url)('@ptlite/${name}') as unknown`]))}}
`,
    ],
  ])
}
