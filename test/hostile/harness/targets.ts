import type { Target } from './target.js'

/** What can be fuzzed with this harness, by name. */
export const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  files: async () => (await import('../files/target.js')).filesTarget(),
  ptlc: async () => await (await import('../ptlc/target.js')).ptlcTarget(),
}
