import { formats } from '../../../formats/registry.js'
import type { Target } from './target.js'

/** Folders with what can be fuzzed with this harness: those of formats, and the readers in the library for browsers. */
export const TARGETS: readonly string[] = [...new Set(formats().map(({ fuzz }) => fuzz)), 'web']

/** What the folder says how to fuzz. */
export async function targetOf(name: string): Promise<Target> {
  const { target } = (await import(`../${name}/target.ts`)) as { readonly target: () => Target | Promise<Target> }
  return target()
}
