import type { Target } from './target.js'

/** What can be fuzzed with this harness, by name. */
export const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  files: async () => (await import('../files/target.js')).filesTarget(),
  pt2: async () => (await import('../pt2/target.js')).pt2Target(),
  pte: async () => (await import('../pte/target.js')).pteTarget(),
  web: async () => await (await import('../web/target.js')).webTarget(),
  ptlc: async () => await (await import('../ptlc/target.js')).ptlcTarget(),
}
